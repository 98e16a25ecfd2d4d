/*
 * Tables that ask how a model's step scales: one row, one model on some workers of a machine with one approach. Columns
 * are recognised by name (catalog/columns.yaml, `scaling`).
 */
#pragma once

#include "ask/rows/measured_cell.h"
#include "base/texts.h"
#include "machine/catalog.h"
#include "base/csv.h"

typedef struct {
    uint32_t row;
    const char *machine, *model, *approach, *settings; /* cells, or the defaults; borrowed; settings: "KEY=VALUE …" */
    bool batch_open;                                   /* no batch was said: pace_scaling_complete() finds one */
    bool batch_assumed;                                /* and settings do not give it either */
    const char *device;                                /* of the machine, instead of the one it names; "" = that */
    double workers, batch;                             /* batch: samples of one worker */
    double nodes;                                      /* that they sit on; 0 = workers fill nodes */
    double servers;                                    /* 0 = as the approach says */
    double one_worker;                                 /* samples/s measured of one; 0 = to be predicted */
    double measured;                                   /* samples/s of all; NAN = not measured */
    char status[160];                                  /* why it can't be asked; "" = it can */
    char unmeasured[PACE_CELL_FAULT];                  /* why its measured cell was refused; "" = it was not */
    const char *unused_placement; /* what a cell says of places that nothing follows; "" = nothing */
} pace_scaling_row;

/* What a table measures, and is answered in. */
typedef enum {
    PACE_SCALING_SAMPLES, /* a second, of all workers */
    PACE_SCALING_STEPS,   /* a second */
    PACE_SCALING_SECONDS, /* of a step */
    PACE_SCALING_MILLISECONDS,
    PACE_SCALING_MICROSECONDS,
    PACE_SCALING_MEASURES
} pace_scaling_measure_kind;

extern const char *const pace_scaling_measure_names[PACE_SCALING_MEASURES];
/** Seconds of the unit of a step's time; 0 for a rate. */
double pace_scaling_measure_unit_s(int measure);

typedef struct {
    pace_csv csv;
    PACE_VEC(pace_scaling_row) rows;
    pace_texts settings; /* of rows that say their precision, too */
    int measured;        /* column; -1 = none */
    int measure;         /* a pace_scaling_measure_kind */
    bool steps_of_each;  /* steps are counted of every worker: more workers make more of them */
} pace_scaling_rows;

/** Reads a table; `machine` (may be NULL) is of rows that name none. Errors: PACE_E_INPUT for a table without a column
 * for the model, the number of workers or, with no default, the machine. A row that gives nodes or says
 * that its workers are spread has them there, nodes as full as the fullest. */
pace_status pace_scaling_rows_read(pace_scaling_rows *out, pace_catalog *catalog, pace_input *input,
                                   const char *machine) PACE_MUST_CHECK;
/** A row's step of so many seconds as the table measures it. */
double pace_scaling_measure(const pace_scaling_rows *rows, const pace_scaling_row *row, double step_s);
void pace_scaling_rows_free(pace_scaling_rows *rows);
