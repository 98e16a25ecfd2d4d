/* A configuration of the program that trains, as its user wrote it, in our settings (catalog/launchers.yaml,
 * `reads`). */
#pragma once

#include "machine/catalog.h"

typedef struct {
    pace_texts settings;    /* "tp=4", each key once, as the last of the file says */
    pace_texts uncounted;   /* "--tp-comm-overlap": what changes a step and no setting follows */
    pace_texts doubtful;    /* "--fp16": what counts, and stands in a branch that may not be taken */
    double layers_of_chunk; /* of a stage of an interleaved pipeline; 0 = not said, as the following */
    double accumulation;    /* passes whose gradients are added up */
    double local_batch;     /* samples that a replica runs at once, in a pipeline */
    double stage_batch;     /* in parts of so many */
    double copies;          /* of what is sharded among ranks */
    double sharded_in_node; /* 1 = a copy on each node */
    double recomputed_layers, recomputes_block; /* with 1 the first so many of a chunk, else in groups of so many */
    double devices;                             /* that it runs on */
    char model[160];                            /* its name, with what tells its size; "" = not said */
    pace_texts model_sizes;                     /* "hidden=4096": parameters of `described` */
    const char *described; /* the model of the catalogue that the file's sizes describe; NULL = they describe none */
    char undescribed[256]; /* why sizes that it states describe none; "" = it states none, or they do */
    char assumed[80];      /* of these sizes, what the file does not state; "" = nothing */
    const char *launcher;  /* whose it is; borrowed from the catalogue */
    char framework[64];    /* "framework=NAME": the first that the launcher runs */
} pace_launcher_settings;

/** Reads what pace_launch_words_read() takes for a script or a configuration. The launcher is the one that understands
 * most of it. PACE_E_INPUT for a file in which nothing is understood, and for a value that is none. Free `out`, which
 * begins as zeros, after a failure too. */
pace_status pace_launcher_read(pace_launcher_settings *out, pace_catalog *catalog, const char *path) PACE_MUST_CHECK;
/** The value of a setting; NULL = not said. */
const char *pace_launcher_says(const pace_launcher_settings *settings, const char *key);
void pace_launcher_settings_free(pace_launcher_settings *settings);
