/* When host threads fetch input: the one definition for the matrix, the causes of idle time and the critical path. */
#pragma once

#include "base/interval.h"
#include "step/step.h"

/** Whether a host task fetches input: an operator, an annotation or a Python frame of that stage. */
static inline bool pace_task_fetches_input(const pace_step *step, uint32_t task) {
    return step->kind[task] <= PACE_TASK_PYTHON && step->stage[task] == PACE_STAGE_INPUT;
}

typedef struct {
    pace_intervals *by_lane; /* of each lane of the step; device lanes have none */
    size_t lanes;
} pace_input_times;

/** For each host thread the times it fetches input, and those it waits while another thread does: that thread's input
 * ends while this one does nothing, and the other then does nothing until this one goes on. Stages must be known. */
pace_status pace_input_times_find(pace_input_times *out, const pace_step *step) PACE_MUST_CHECK;
void pace_input_times_free(pace_input_times *times);
