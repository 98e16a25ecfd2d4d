/*
 * Which columns of a table are which of a job's, and what their numbers may be (catalog/job_columns.yaml).
 */
#pragma once

#include "base/warning.h"
#include "machine/catalog.h"
#include "source/jobs/job_table.h"

enum { PACE_JOB_MOST_CELLS = 512 }; /* columns of a table */

typedef struct {
    double least, most;
    bool whole;
    double suspicious; /* every positive number below this: likely another unit; 0 = no such rule */
    char hint_unit[16];
    double hint_factor;
} pace_job_limit;

typedef struct {
    pace_job_limit of[PACE_JOB_COLUMNS];
    /* The same as columns, to ask all numbers of a row without branches: a number between 0 and `hinted` is in another
     * unit; `whole` 1: it must be whole. */
    double least[PACE_JOB_COLUMNS], most[PACE_JOB_COLUMNS], hinted[PACE_JOB_COLUMNS], whole[PACE_JOB_COLUMNS];
} pace_job_limits;

pace_status pace_job_limits_load(pace_job_limits *out, pace_catalog *catalog) PACE_MUST_CHECK;

/* What a table's columns mean, in its order. */
typedef struct {
    size_t count;
    int16_t role[PACE_JOB_MOST_CELLS]; /* pace_job_column, PACE_JOB_ID …, or PACE_JOB_NO_ROLE */
    double factor[PACE_JOB_MOST_CELLS];
    int place[PACE_JOB_ROLES]; /* role -> column; -1 = not there */
} pace_job_layout;

/* Remarks for the report. */

/** Finds the columns by their names, or as `mapping` says: "theirs=ours,theirs*1e9=ours,…" (a factor turns their unit
 * into ours). Columns that nobody needs are remarked on when their name is close to one that is missing. Errors:
 * PACE_E_INPUT naming the column that is missing and the closest one there is, or one that is there twice; PACE_E_USAGE
 * for a mapping that names what is not there. */
pace_status pace_job_layout_find(pace_job_layout *out, pace_warnings *remarks, pace_catalog *catalog, const char *file,
                                 const char *const *names, size_t count, const char *mapping) PACE_MUST_CHECK;

/** Whether a job can be: 1 = yes; else a reason is written to `why`. */
bool pace_job_check(char *why, size_t size, const pace_job_limits *limits, pace_job_architecture architecture,
                    const double *values);
