/*
 * What a worker's operations wait for. Rows do not say it, but their program is in one order: an operation follows the
 * one of the same worker that ended last before it began, a pass its receive and a send its pass among them.
 */
#include "source/pipelines/pipeline_rows.h"

#include "base/order.h"

typedef struct {
    int64_t at_ns;
    uint32_t task;
} instant;

PACE_ORDER(by_time, instant, PACE_UP(at_ns) PACE_UP(task))
PACE_ORDER(by_task, pace_wait, PACE_UP(task))

typedef struct {
    PACE_VEC(instant) begins, ends;
} instants;

static pace_status list_instants(instants *out, const pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++) {
        if (step->kind[task] != PACE_TASK_KERNEL) continue;
        PACE_TRY(PACE_PUSH(&out->begins, ((instant){step->start_ns[task], task})));
        PACE_TRY(PACE_PUSH(&out->ends, ((instant){pace_step_end_ns(step, task), task})));
    }
    if (out->begins.count) {
        PACE_SORT(&out->begins, by_time);
        PACE_SORT(&out->ends, by_time);
    }
    return PACE_OK;
}

/* On one stream the order is known without. An operation of no length ends where it begins: it is not its own. */
static pace_status add_waits(pace_step *step, const instants *all) {
    size_t ended = 0, last = 0;
    PACE_ITEMS (const instant, begin, &all->begins) {
        bool again = begin > all->begins.items && begin[-1].at_ns == begin->at_ns;
        while (ended < all->ends.count && all->ends.items[ended].at_ns <= begin->at_ns) ended++;
        if (!again) last = ended;
        while (last > 0 && step->start_ns[all->ends.items[last - 1].task] >= begin->at_ns) last--;
        if (last == 0) continue;
        uint32_t on = all->ends.items[last - 1].task;
        if (pace_task_lane(step, on) == pace_task_lane(step, begin->task)) continue;
        PACE_TRY(PACE_PUSH(&step->waits, ((pace_wait){begin->task, on})));
    }
    PACE_SORT(&step->waits, by_task);
    return PACE_OK;
}

pace_status pace_pipeline_waits_add(pace_step *step) {
    instants all = {0};
    pace_status status = list_instants(&all, step);
    if (status == PACE_OK) status = add_waits(step, &all);
    PACE_VEC_FREE(&all.begins, &all.ends);
    return status;
}
