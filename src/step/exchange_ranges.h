/* Where hosts exchange: ranges that PyTorch opens, named by the library and the exchange ("gloo:all_reduce"), and calls
 * in which a host waits until all others have come, whatever the library. Python's frames of Work.wait() and of a
 * store's wait() (both are capsules of pybind11) say that a host may wait there, and not for whom. */
#pragma once

#include "step/step.h"

#include <string.h>

/** Whether hosts exchange there over their own network: a task of a thread of the training process, or of the
 * library. */
static inline bool pace_task_exchanges(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    if (pace_task_is_operator(step, task))
        return *name == 'c' && (strcmp(name, "c10d::barrier") == 0 || strcmp(name, "c10d::monitored_barrier_") == 0);
    if (step->kind[task] != PACE_TASK_ANNOTATION) return false;
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 || strncmp(name, "ucc:", 4) == 0;
}

/** The frame's name without its address, NULL = the task is no such frame. */
static inline const char *pace_task_waits_in_capsule(const pace_step *step, uint32_t task) {
    static const char wait[] = "<built-in method wait of PyCapsule object";
    if (step->kind[task] != PACE_TASK_PYTHON) return NULL;
    return strncmp(pace_step_name(step, task), wait, sizeof wait - 1) == 0 ? wait : NULL;
}

/** Whether hosts of several ranks may meet there. */
static inline bool pace_task_may_meet(const pace_step *step, uint32_t task) {
    return pace_task_exchanges(step, task) || pace_task_waits_in_capsule(step, task);
}
