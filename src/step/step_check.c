/* The invariant checker of a finished step; on in every test. */
#include "step/step.h"

static pace_status broken(const pace_step *step, size_t task, const char *what) {
    return pace_fail(PACE_E_INTERNAL, "step invariant: task %zu (%s): %s", task, pace_step_name(step, (uint32_t)task),
                     what);
}

/* By more than the rounding that nesting allows (step.c). */
static bool outlives(const pace_step *step, uint32_t task, uint32_t parent) {
    int64_t end = pace_step_end_ns(step, task), bound = pace_step_end_ns(step, parent);
    return end > bound && (uint64_t)end - (uint64_t)bound > 2000;
}

static pace_status check_task(const pace_step *step, uint32_t task, const pace_lane *lane) {
    if (pace_task_ns(step, task) < 0) return broken(step, task, "has a negative duration");
    if (pace_task_ns(step, task) > INT64_MAX - (step->start_ns[task] > 0 ? step->start_ns[task] : 0))
        return broken(step, task, "ends past the last instant");
    if (task > lane->first && step->start_ns[task - 1] > step->start_ns[task])
        return broken(step, task, "starts before its predecessor on the lane");
    uint32_t parent = pace_task_parent(step, task), cause = pace_task_cause(step, task);
    if (parent != PACE_NO_TASK && (parent >= task || parent < lane->first))
        return broken(step, task, "its parent does not come before it on its lane");
    if (parent != PACE_NO_TASK && step->start_ns[parent] > step->start_ns[task])
        return broken(step, task, "starts before its parent");
    if (parent != PACE_NO_TASK && outlives(step, task, parent)) return broken(step, task, "outlives its parent");
    if (cause != PACE_NO_TASK && (cause >= step->count || step->lanes.items[pace_task_lane(step, cause)].device))
        return broken(step, task, "its cause is not a host task");
    return PACE_OK;
}

/* Waits are for device work that began before; a gradient is of two operators, the forward one begun first. */
static pace_status check_tables(const pace_step *step) {
    for (size_t i = 0; i < step->waits.count; i++) {
        const pace_wait *w = &step->waits.items[i];
        if (w->task >= step->count || w->on >= step->count || !pace_task_on_device(step->kind[w->on]))
            return pace_fail(PACE_E_INTERNAL, "step invariant: wait %zu is not for device work", i);
        if (i && w->task < w[-1].task) return broken(step, w->task, "its waits are not in order");
        if (!pace_task_on_device(step->kind[w->task]) && step->kind[w->task] != PACE_TASK_CALL)
            return broken(step, w->task, "waits, but is neither device work nor a call");
        if (step->start_ns[w->on] >= pace_step_end_ns(step, w->task) &&
            step->start_ns[w->on] >= step->start_ns[w->task])
            return broken(step, w->task, "waits for what began after it");
    }
    for (size_t i = 0; i < step->gradients.count; i++) {
        const pace_gradient *g = &step->gradients.items[i];
        if (g->task >= step->count || step->kind[g->task] != PACE_TASK_OP)
            return pace_fail(PACE_E_INTERNAL, "step invariant: gradient %zu is not of an operator", i);
        if (i && g->task <= g[-1].task) return broken(step, g->task, "gradients are not in order");
        if (g->forward == PACE_NO_TASK) continue;
        if (g->forward >= step->count || step->kind[g->forward] != PACE_TASK_OP ||
            step->start_ns[g->forward] > step->start_ns[g->task])
            return broken(step, g->task, "differentiates what is no operator before it");
    }
    return PACE_OK;
}

pace_status pace_step_check(const pace_step *step) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        if (lane->first != next)
            return pace_fail(PACE_E_INTERNAL, "step invariant: lane %u does not tile the tasks", i);
        next += lane->count;
        for (uint32_t task = lane->first; task < next; task++) PACE_TRY(check_task(step, task, lane));
    }
    if (next != step->count)
        return pace_fail(PACE_E_INTERNAL, "step invariant: lanes hold %u of %zu tasks", next, step->count);
    return check_tables(step);
}
