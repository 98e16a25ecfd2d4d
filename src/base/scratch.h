/* A folder for files of one run, in the folder that TMPDIR names or in /tmp. Signals that end the process remove it,
 * and the next scratch folder of this user removes what a killed process of this host left. */
#pragma once

#include "base/status.h"

enum { PACE_SCRATCH_PATH = 512 };

/* Stays where it is in memory while it is open; all zeros: none. */
typedef struct {
    char path[PACE_SCRATCH_PATH];
    int number; /* of what is unfinished */
} pace_scratch;

/** Creates "paceline-HOST-PROCESS-NUMBER", which only this user may enter and which holds no folders. PACE_E_IO with
 * path and reason. */
pace_status pace_scratch_open(pace_scratch *out) PACE_MUST_CHECK;
/** Removes the folder and the files in it. */
void pace_scratch_close(pace_scratch *scratch);
