/*
 * Tables that ask how a model's step scales: one row, one model on some workers of a machine with one approach. Columns
 * are recognised by name (catalog/columns.yaml, `scaling`).
 */
#ifndef PACE_ROWS_SCALING_ROWS_H
#define PACE_ROWS_SCALING_ROWS_H

#include "base/input.h"
#include "base/memory.h"
#include "rows/csv.h"

typedef struct {
    uint32_t row;
    const char *machine, *model, *approach, *settings; /* cells, or the defaults; borrowed; settings: "KEY=VALUE …" */
    bool one_sample;                                   /* no batch was said: 1 */
    double workers, batch;                             /* batch: samples of one worker */
    double servers;                                    /* 0 = as the approach says */
    double one_worker;                                 /* samples/s measured of one; 0 = to be predicted */
    double measured;                                   /* samples/s of all; NAN = not measured */
    char status[160];                                  /* why it can't be asked; "" = it can */
} pace_scaling_row;

typedef struct {
    pace_csv csv;
    PACE_VEC(pace_scaling_row) rows;
    int measured; /* column; -1 = none */
} pace_scaling_rows;

/** Reads a table; `machine` (may be NULL) is of rows that name none. Errors: PACE_E_INPUT for a table without a column
 * for the model, the number of workers or, with no default, the machine. */
pace_status pace_scaling_rows_open(pace_scaling_rows *out, const char *path, const char *machine) PACE_MUST_CHECK;
pace_status pace_scaling_rows_read(pace_scaling_rows *out, pace_input *input, const char *machine) PACE_MUST_CHECK;
void pace_scaling_rows_free(pace_scaling_rows *rows);

#endif
