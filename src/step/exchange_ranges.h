/* Where hosts exchange: ranges that PyTorch opens, named by the library and the exchange ("gloo:all_reduce"), and calls
 * in which a host waits until all others have come, whatever the library. */
#pragma once

#include "step/step.h"

#include <string.h>

/** Whether hosts exchange there over their own network: a task of a thread of the training process, or of the
 * library. */
static inline bool pace_task_exchanges(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    if (pace_task_is_operator(step, task))
        return strcmp(name, "c10d::barrier") == 0 || strcmp(name, "c10d::monitored_barrier_") == 0;
    if (step->kind[task] != PACE_TASK_ANNOTATION) return false;
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 || strncmp(name, "ucc:", 4) == 0;
}
