/* Ranges that PyTorch opens around exchanges, named by the library and the exchange: "gloo:all_reduce". */
#pragma once

#include "step/step.h"

#include <string.h>

/** Whether hosts exchange there over their own network: a task of a thread of the training process, or of the
 * library. */
static inline bool pace_task_exchanges(const pace_step *step, uint32_t task) {
    if (step->kind[task] != PACE_TASK_ANNOTATION) return false;
    const char *name = pace_step_name(step, task);
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 || strncmp(name, "ucc:", 4) == 0;
}
