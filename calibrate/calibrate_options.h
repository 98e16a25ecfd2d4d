/* What a calibration is asked with. Private to calibrate/. */
#pragma once

#include "base/words.h"
#include "paceline/paceline.h"

/** How much is measured: under a minute, minutes, hours. */
typedef enum { PACE_EFFORT_QUICK, PACE_EFFORT_DEFAULT, PACE_EFFORT_FULL } pace_effort;

typedef struct {
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *target;      /**< "cpu" (default) or "cuda" */
    int device;              /**< which CUDA device */
    pace_effort effort;      /**< how much */
    const char *families;    /**< "gemm,embedding": these alone; NULL = all */
    pace_words models;       /**< whose kernels are measured; without families nothing else is */
    pace_words set;          /**< "KEY=VALUE" of their steps */
    const char *rows_path;   /**< table of rows (CSV): rows that are there are kept and skipped; NULL = no table */
    const char *entry_path;  /**< device entry (YAML), written at the end, whole or not at all; NULL = none */
    const char *name;        /**< of the device in rows and entry; NULL = made from the processor's name */
    const char *module_path; /**< folder of the optional modules; NULL = beside the program, or $PACELINE_MODULES */
    double memory_bytes;     /**< tensors of one point at most; 0 = half of the memory that is free */
    int threads;             /**< CPU; 0 = one per core this process may use */
    bool list;               /**< only say what would be measured */
    const pace_question *question; /**< that is told of progress, and asked between points whether to stop */
} pace_calibrate_options;
