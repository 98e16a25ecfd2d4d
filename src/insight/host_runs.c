#include "insight/host_runs.h"

#include "base/order.h"
#include "base/sort.h"
#include "insight/input_time.h"
#include "step/exchange_ranges.h"

/* A thread that asks again and again whether the device is done waits; what it asked in between held up nothing. */
static bool asks(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_CALL && strstr(pace_step_name(step, task), "Query") != NULL;
}

bool pace_takes_host_time(const pace_step *step, uint32_t task) {
    return (step->kind[task] == PACE_TASK_CALL && !asks(step, task)) || pace_task_is_operator(step, task) ||
           pace_task_fetches_input(step, task) || pace_task_may_meet(step, task);
}

static pace_status add_wakes(pace_instants *out, const pace_step *step, const pace_lane *lane, int64_t to_ns) {
    int64_t until_ns = INT64_MIN;
    for (uint32_t task = lane->first; task < lane->first + lane->count && step->start_ns[task] < to_ns; task++) {
        int64_t start_ns = step->start_ns[task], end_ns = pace_step_end_ns(step, task);
        if (end_ns <= until_ns || !pace_takes_host_time(step, task)) continue;
        if (start_ns >= until_ns + PACE_PAUSE_NS) PACE_TRY(PACE_PUSH(out, ((pace_instant){start_ns})));
        until_ns = end_ns;
    }
    return PACE_OK;
}

PACE_ORDER(by_time, pace_instant, PACE_UP(at_ns))

pace_status pace_host_wakes(pace_instants *out, const pace_step *step, int64_t to_ns) {
    for (size_t i = 0; i < step->lanes.count; i++)
        if (!step->lanes.items[i].device) PACE_TRY(add_wakes(out, step, &step->lanes.items[i], to_ns));
    pace_instant *scratch = pace_alloc(out->count, sizeof *scratch);
    if (!scratch) return PACE_E_MEMORY;
    pace_sort_runs(out->items, scratch, out->count, sizeof *scratch, by_time);
    pace_free(scratch);
    return PACE_OK;
}

/* The last task up to `task` that takes host time; PACE_NO_TASK = none. */
static uint32_t back_to_host_time(const pace_step *step, const pace_lane *lane, uint32_t task) {
    while (task != PACE_NO_TASK && !pace_takes_host_time(step, task))
        task = task == lane->first ? PACE_NO_TASK : task - 1;
    return task;
}

uint32_t pace_host_run_end(int64_t *start_ns, const pace_step *step, const pace_lane *lane, int64_t from_ns,
                           int64_t to_ns) {
    uint32_t task = back_to_host_time(step, lane, pace_lane_begun_by(step, lane, to_ns - 1));
    *start_ns = from_ns;
    for (; task != PACE_NO_TASK; task = pace_task_parent(step, task)) {
        if (!pace_takes_host_time(step, task)) continue;
        int64_t end_ns = pace_step_end_ns(step, task);
        bool over = end_ns < to_ns;
        int64_t at_ns = over ? end_ns : step->start_ns[task];
        if (at_ns > *start_ns) *start_ns = at_ns;
        if (!over) break;
    }
    return task;
}
