/*
 * Tables of how long each worker of a job took for each iteration: one row per worker and iteration.
 */
#pragma once

#include "base/input.h"
#include "base/intern.h"
#include "base/texts.h"
#include "fleet/variability.h"
#include "machine/catalog.h"

typedef struct {
    pace_names names;            /* of workers */
    PACE_VEC(pace_name) workers; /* in order of first appearance */
    PACE_VEC(pace_name) nodes;   /* of the workers; none where no column tells */
    PACE_VEC(double) labels;     /* of iterations, ascending: as the table has them, else 0, 1, ... */
    PACE_VEC(double) times;      /* labels.count x workers.count */
    char unit[12];               /* "s", or "unit" where the column tells none */
    uint64_t bytes;              /* as stored */
    pace_texts unread;           /* names of columns that say something and are not read */
} pace_iteration_rows;

/** Columns (catalog/columns.yaml, iteration): a worker; a time with its unit (batch_time_s, step_time_ms, ...) or
 * without (batch_time_norm, ...); an iteration, else a worker's rows are its iterations in order; a node, that of a
 * worker's first row. Where nodes alone are told, they are the workers too.
 * Errors: PACE_E_INPUT with file and line: a column missing, no time, a worker twice in an iteration. */
pace_status pace_iteration_rows_read(pace_iteration_rows *out, pace_catalog *catalog,
                                     pace_input *input) PACE_MUST_CHECK;
void pace_iteration_rows_free(pace_iteration_rows *rows);

static inline pace_iterations pace_iteration_rows_data(const pace_iteration_rows *rows) {
    return (pace_iterations){rows->workers.count, rows->labels.count, rows->times.items};
}
