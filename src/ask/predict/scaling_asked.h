/* Questions of scaling rows, answered and sampled; what rows have in common is made once. Private to report/. */
#pragma once

#include "base/intern.h"
#include "forecast/scaling.h"
#include "machine/device.h"
#include "ask/rows/scaling_fit.h"
#include "ask/rows/scaling_rows.h"
#include "plan/step_engine.h"

/* Rows of a table mostly ask for the same again. What was made is kept with the name of its question: the first has
 * name 1, the next name 2. Only what could be made is kept. */
typedef struct {
    pace_machine machine;
    const pace_device *device;
} pace_scaling_where;

/* One worker's step. */
typedef struct {
    double spread;
    pace_gradient_profile profile;
} pace_scaling_worker;

typedef struct {
    const char *on;            /* --on, for rows whose machine no catalogue knows; NULL = not given; borrowed */
    bool took_on;              /* of the row that was answered last */
    bool unused_servers;       /* of that row: its approach has none */
    const char *on_device;     /* that it was answered on */
    pace_step_fitting fitting; /* of that row, into memory */
    pace_step_room room;
    double recipe_spread; /* of rows that do not say what ran */
    const char *beyond;   /* of that row: what lies outside the rows of the fit, in words; NULL = nothing */
    pace_device_catalog devices;
    pace_approaches approaches;
    pace_names texts, place_names, step_names, exchange_names;
    PACE_VEC(pace_scaling_where) places;
    PACE_VEC(pace_scaling_worker) steps;
    PACE_VEC(pace_scaling_exchange) exchanges;
} pace_scaling_asked;

pace_status pace_scaling_asked_open(pace_scaling_asked *out, pace_catalog *catalog) PACE_MUST_CHECK;
/** Also of one that is all zero, or that failed to open. */
void pace_scaling_asked_close(pace_scaling_asked *asked);

/** Whether a row says what ran, by an approach or by one worker's rate. */
bool pace_scaling_says_recipe(const pace_scaling_row *row);

/** Gives a row without a batch that of one worker alone: of its settings, else by the rule of step_ask.h. */
pace_status pace_scaling_complete(pace_scaling_row *row, pace_scaling_asked *asked) PACE_MUST_CHECK;

/** Seconds of a row's step; `fit` NULL = by formula. With one worker measured, its time is that. Errors: those of
 * models, machines and approaches, which belong to the row. */
pace_status pace_scaling_answer(pace_estimate *out_s, pace_scaling_asked *asked, const pace_scaling_row *row,
                                const pace_scaling_fit *fit) PACE_MUST_CHECK;

/** What would make a row fit that does not, as a sentence. */
pace_status pace_scaling_row_advise(char *out, size_t size, pace_scaling_asked *asked,
                                    const pace_scaling_row *row) PACE_MUST_CHECK;

/** A measured row as a fit wants it; its texts are borrowed from the row and from `asked`. */
pace_status pace_scaling_sample_of(pace_scaling_sample *out, pace_scaling_asked *asked,
                                   const pace_scaling_row *row) PACE_MUST_CHECK;
