/* A model's step on some workers: the question of one step (step_ask.h), worded by a number of workers and an
 * approach. */
#pragma once

#include "ask/predict/step_ask.h"

typedef struct {
    const char *name;
    const pace_words *set;
    const pace_approach *approach;
    const pace_device *device;
    const pace_machine *machine; /* one node of it, or more */
    int workers, nodes;          /* nodes: 0 = workers fill them */
    double batch;                /* of one worker */
    double own_s;                /* one worker's step as measured; 0 = as it is walked */
    double compute, slowness;    /* factors of a fit on one worker's time and on exchanges; 0 = 1 */
    pace_predict_fits *fits;     /* of kernels and exchanges; NULL = none */
} pace_scaling_words;

/** The step, and what nothing hides of it. A measured worker stretches all that it does, so that only the exchange is
 * predicted. Errors: those of pace_step_asked_open() and pace_step_solve(), PACE_E_USAGE for workers that do not fit on
 * the machine. */
pace_status pace_scaling_solve(pace_step_solution *out, pace_catalog *catalog,
                               const pace_scaling_words *words) PACE_MUST_CHECK;

/** What would make a step fit that does not, as a sentence: the batch, named as `batch_option` times `batch_times`, or
 * a setting behind `option` (step_memory.h); else, where the workers may not hold the whole model each, the settings of
 * one step on the machine. */
pace_status pace_scaling_advise(char *out, size_t size, pace_catalog *catalog, const pace_scaling_words *words,
                                const char *option, const char *batch_option, double batch_times) PACE_MUST_CHECK;

/** The batch of one worker unless given: as the model alone has it on the device. */
pace_status pace_scaling_own_batch(double *out, pace_catalog *catalog, const char *model, const pace_words *set,
                                   const pace_device *device) PACE_MUST_CHECK;

/** What adds most to a worker's own step: "exchange", a lane of servers and workers, "slowest worker", or "compute"
 * where nothing adds 1 %; static. */
const char *pace_scaling_bottleneck(const pace_step_solution *solution);
