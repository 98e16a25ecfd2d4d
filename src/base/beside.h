/*
 * A file written beside its place under a name of its own, ".NAME.HOST-PROCESS-NUMBER.part", and renamed when it is
 * whole: two that write one file leave one whole result. What a killed process of this host left of the same file is
 * removed.
 */
#pragma once

#include "base/status.h"

#include <stdio.h>

typedef struct {
    FILE *file;
    char *path, *target; /* written to, and its place at the end; the same for a pipe or a device, which stays one */
    int number;          /* of those unfinished */
} pace_beside;

/** Begins `path`: through a symbolic link, with the mode of the file it replaces. PACE_E_IO with path and reason. */
pace_status pace_beside_open(pace_beside *out, const char *path) PACE_MUST_CHECK;
/** Closes the file, and puts it into its place if `status` is PACE_OK; removes it otherwise, as if it fails. Returns
 * the first failure. */
pace_status pace_beside_close(pace_beside *beside, pace_status status) PACE_MUST_CHECK;
