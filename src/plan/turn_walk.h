/*
 * A pipeline of few micro-batches, turn by turn: formulas say what many come to, and neither what a late host makes of a stage
 * nor what is left to fill where few are. Two clocks a stage, host and device; no tasks.
 */
#pragma once

#include "model/pipeline_turns.h"

enum { PACE_TURN_PASSES = 4 };

/* Of one stage, seconds: each pass over one of its chunks on the device and on the host that issues it, and what every step has
 * behind the last. */
typedef struct {
    double device_s[PACE_TURN_PASSES], host_s[PACE_TURN_PASSES]; /* by pace_turn_pass */
    double idle_s[PACE_TURN_PASSES]; /* if the device has nothing to do when the host begins, until it has done all */
    double end_device_s, end_host_s;
    /* of a forward pass over the model's first or last part: a batch, or its targets, which the host waits for; 0 = it does not */
    double input_device_s, input_host_s;
} pace_turn_times;

/** How long a step takes that follows another: of the stage that takes longest. `stages`: one each; a message takes `message_s`
 * once its receiver is ready. */
pace_status pace_turns_period(double *out_s, const pace_pipeline *pipeline, const pace_turn_times *stages,
                              double message_s) PACE_MUST_CHECK;
