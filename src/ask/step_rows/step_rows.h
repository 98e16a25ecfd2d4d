/*
 * Tables that ask about steps: each row becomes a model, a configuration and a place to run it. Columns are recognised
 * by name (catalog/columns.yaml, `step`); docs/step_rows.md says what is taken for granted where a row is silent.
 */
#pragma once

#include "plan/step_engine.h"
#include "ask/rows/measured_cell.h"
#include "base/csv.h"

typedef struct {
    uint32_t row;
    const pace_model *model; /* these are borrowed from the table; NULL = the row can't be asked, see status */
    const pace_device *device;
    const pace_exchange *exchange; /* NULL = one device */
    double host_bytes;             /* then: memory of its host; 0 = unknown */
    const pace_framework *framework;
    pace_config config;
    const pace_approach *approach; /* how PyTorch's ranks exchange gradients */
    pace_step_spreads spreads;     /* of pace_frameworks */
    bool batch_assumed;            /* the row says no micro-batch */
    bool may_recompute;            /* the row does not say whether activations are recomputed */
    bool ran;                      /* of a table of measured steps */
    double may_chunk;              /* its stages may have so many chunks, of which it says nothing; 0 = they may not */
    bool may_be_fp8;               /* the row says no precision, and its framework trains in 8 bits as well */
    bool says_layout;              /* of images */
    bool any_network;              /* what joins its nodes is not given */
    double attention;              /* pace_frameworks_attention() */
    bool says_zero;                /* the row says how replicas are sharded, or that they are not */
    bool half_causal;              /* who made the table counts half of causal attention's operations */
    double matrix_factor, attention_factor, stream_factor; /* of this row's own: time over the formula's; 0 = as that */
    bool steps_of_each;                                    /* the table counts steps a second of each device */
    double ranks, tokens;                                  /* tokens: of a step on one device */
    double doubt;                                          /* times the spread: above 1 where sizes were guessed */
    bool guesses_work;    /* what is multiplied, or in which precision: then nothing says what it takes at least */
    double unsaid_spread; /* and beside it, of what the row leaves open of its images and power */
    double measured_s;    /* NAN = not measured */
    char unmeasured[PACE_CELL_FAULT]; /* why a measured cell was refused; "" = none was */
    double unit_s;                    /* 0 = the unit is a rate */
    const char *unit;
    char status[320]; /* why it can't be asked, or what was assumed; "" = neither */
} pace_step_row;

typedef struct pace_step_things pace_step_things; /* models and machines that rows share */

typedef struct {
    pace_csv csv;
    PACE_VEC(pace_step_row) rows;
    pace_step_things *things;
} pace_step_rows;

/* What answers where rows are silent; all may be NULL. */
typedef struct {
    const char *machine; /* --on: a machine, or a device */
} pace_step_defaults;

/** Whether a measure counts something a second: "tokens_per_s_per_gpu", "mfu_pct", … */
bool pace_step_is_rate(const char *name);

/** What a step of this row is, in what a rate counts: tokens of a device, tokens, samples, operations, seconds at the
 * device's peak, …; 0 = no such rate. */
double pace_step_row_amount(const pace_step_row *row, const char *rate);

/** Reads a table. Errors: PACE_E_INPUT for a table without any column of a model's size, PACE_E_USAGE and
 * PACE_E_MISSING for an unknown default. */
pace_status pace_step_rows_read(pace_step_rows *out, pace_catalog *catalog, pace_input *input,
                                const pace_step_defaults *defaults) PACE_MUST_CHECK;
void pace_step_rows_free(pace_step_rows *rows);
