/* Steps on ever more workers, by model or recording, approach and batch: the answer to `predict MODEL... --workers`. */
#pragma once

#include "ask/predict/approach_words.h"
#include "ask/predict/predict_fits.h"
#include "ask/predict/scaling_input.h"
#include "forecast/scaling.h"
#include "plan/step_engine.h"

enum { PACE_WORKERS_ADVICE = 400 };

/* One input under one approach, with one batch, on one number of workers. */
typedef struct {
    size_t input, approach; /* into `inputs` and `approaches` */
    double batch;           /* as asked: of each worker, or of all (strong scaling) */
    int workers;
    double samples_per_s, efficiency;
    int against; /* whose samples per second and worker the efficiency is measured by: 1, or the curve's first alike */
    bool recomputed; /* since it would not fit else */
    pace_scaling_point point;
    double fp_bp_s, wu_s;
    pace_step_fitting fitting; /* of a model's rank, which needs and has: */
    pace_step_room room;
    double memory_bytes; /* of the device that needs most */
    double first_bytes;  /* what device 0 needs */
} pace_workers_point;

typedef struct {
    const pace_scaling_options *options;
    pace_machine machine;
    pace_device_catalog devices;
    const pace_device *device;
    pace_approaches table;
    pace_predict_fits fits;
    pace_warnings warnings;
    pace_approach_list approaches;
    PACE_VEC(int) workers;
    PACE_VEC(double) batches; /* none = each input's own */
    PACE_VEC(pace_scaling_input) inputs;
    PACE_VEC(pace_workers_point) points; /* by input, approach, batch, workers: the last changes fastest */
    char advice[PACE_WORKERS_ADVICE];    /* what would make the first point fit that does not; "" = all fit */
} pace_workers_asked;

/** Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE for numbers that cannot be, a batch
 * that does not divide; those of machines, approaches, models and readers. */
pace_status pace_workers_ask(pace_workers_asked *out, const char *const *names, size_t count,
                             const pace_scaling_options *options) PACE_MUST_CHECK;
/** The first point that does so; NULL = none. */
const pace_workers_point *pace_workers_first(const pace_workers_asked *asked, pace_step_fitting fitting);
void pace_workers_asked_free(pace_workers_asked *asked);
