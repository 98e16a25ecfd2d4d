/* A configuration of the program that trains, as its user wrote it, in our settings (catalog/launchers.yaml,
 * `reads`). */
#pragma once

#include "machine/catalog.h"

typedef struct {
    pace_texts settings;    /* "tp=4", each key once, as the last of the file says */
    pace_texts written;     /* for each, how the file says it: "--tensor-model-parallel-size 4" */
    double layers_of_chunk; /* of a stage of an interleaved pipeline; 0 = not said */
    const char *launcher;   /* whose it is; borrowed from the catalogue */
    char framework[64];     /* "framework=NAME": the first that the launcher runs */
} pace_launcher_settings;

/** Reads TOML ("[section]", "key = value") or command-line arguments ("--flag value"), in scripts too. PACE_E_INPUT for
 * a file in which nothing is understood. Free `out`, which begins as zeros, after a failure too. */
pace_status pace_launcher_read(pace_launcher_settings *out, pace_catalog *catalog, const char *path) PACE_MUST_CHECK;
void pace_launcher_settings_free(pace_launcher_settings *settings);
