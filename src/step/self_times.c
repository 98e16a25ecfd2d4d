#include "step/host_operators.h"

typedef struct {
    const pace_step *step;
    pace_counts_fn counts;
    pace_self_time_fn take;
    void *context;
} walk;

static bool counts(const walk *w, uint32_t task) {
    return pace_task_is_operator(w->step, task) || (w->counts && w->counts(w->context, task));
}

/* A lane is walked once; `at` is how far the open operator's time is given away. */
static pace_status walk_lane(const walk *w, const pace_lane *lane, uint32_t *stack) {
    const pace_step *step = w->step;
    size_t depth = 0;
    int64_t at = INT64_MIN;
    for (uint32_t task = lane->first;; task++) {
        bool last = task == lane->first + lane->count;
        if (!last && !counts(w, task)) continue;
        int64_t now = last ? INT64_MAX : step->start_ns[task];
        while (depth && pace_step_end_ns(step, stack[depth - 1]) <= now) {
            int64_t end = pace_step_end_ns(step, stack[depth - 1]);
            if (end > at) PACE_TRY(w->take(w->context, stack[depth - 1], at, end));
            if (end > at) at = end;
            depth--;
        }
        if (last) return PACE_OK;
        if (depth && now > at) PACE_TRY(w->take(w->context, stack[depth - 1], at, now));
        if (now > at) at = now;
        stack[depth++] = task;
    }
}

pace_status pace_self_times(const pace_step *step, pace_counts_fn also, pace_self_time_fn take, void *context) {
    walk w = {step, also, take, context};
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (lane->device || lane->count == 0) continue;
        uint32_t *stack = pace_alloc(lane->count, sizeof *stack);
        if (!stack) return PACE_E_MEMORY;
        pace_status status = walk_lane(&w, lane, stack);
        pace_free(stack);
        PACE_TRY(status);
    }
    return PACE_OK;
}
