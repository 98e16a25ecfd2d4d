/* Figures of answers, kept in an SQLite file from run to run: tables paceline_runs and paceline_figures, beside which
 * the file may hold others. Without SQLite every function fails with PACE_E_MISSING. */
#pragma once

#include "base/memory.h"

typedef struct {
    char *verb, *series, *label, *command; /* label "" = none was given */
    int64_t at_s;                          /* seconds since 1970, UTC */
} pace_stored_run;

typedef struct {
    size_t run; /* index into the runs */
    char *path; /* of the value, as in JSON: "step_spread.median_ns" */
    double value;
} pace_stored_figure;

typedef struct {
    PACE_VEC(pace_stored_run)
    runs; /* in the order in which they were stored: of several files by time, else as in the file */
    PACE_VEC(pace_stored_figure) figures;
} pace_results;

/** Appends one run with its figures, all or nothing; `figures` need no run. Creates the file and the tables where they
 * are missing; waits some seconds for another writer. PACE_E_IO, PACE_E_INPUT for a file that is no database. */
pace_status pace_results_add(const char *path, const pace_stored_run *run, const pace_stored_figure *figures,
                             size_t count) PACE_MUST_CHECK;

/** Reads everything of `count` files. PACE_E_IO, PACE_E_INPUT for what is no database or holds no results. */
pace_status pace_results_read(pace_results *out, const char *const *paths, size_t count) PACE_MUST_CHECK;
void pace_results_free(pace_results *results);
