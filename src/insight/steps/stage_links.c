#include "insight/steps/stage_links.h"

#include "base/order.h"
#include "base/sort.h"

static bool inside_backward(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_parent(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (pace_step_gradient(step, at)) return true;
    return false;
}

void pace_stages_mark_linked(pace_step *step) {
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t forward = step->gradients.items[i].forward;
        if (forward != PACE_NO_TASK && !pace_stage_is_given(step, forward))
            step->stage[forward] =
                (uint8_t)(inside_backward(step, forward) ? PACE_STAGE_RECOMPUTE : PACE_STAGE_FORWARD);
    }
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t task = step->gradients.items[i].task;
        if (!pace_stage_is_given(step, task)) step->stage[task] = PACE_STAGE_BACKWARD;
    }
}

PACE_ORDER(by_start, pace_stage_run, PACE_UP(from_ns) PACE_UP(to_ns))

static pace_status add_operator(pace_stage_runs *runs, const pace_step *step, const pace_marks *marks, uint32_t task) {
    int64_t start = step->start_ns[task];
    pace_stage_run run = {start, pace_step_end_ns(step, task), pace_marks_at(marks, start), step->stage[task]};
    return PACE_PUSH(runs, run);
}

static void join(pace_stage_runs *runs) {
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        pace_stage_run *last = kept ? &runs->items[kept - 1] : NULL, *own = &runs->items[i];
        if (last && last->stage == own->stage && last->mark == own->mark) {
            if (own->to_ns > last->to_ns) last->to_ns = own->to_ns;
        } else {
            runs->items[kept++] = *own;
        }
    }
    runs->count = kept;
}

static void put(uint64_t *set, uint32_t task) { set[task / 64] |= (uint64_t)1 << task % 64; }

/* Thread by thread, in order of start on each. `linked` has a bit a task. */
static pace_status list_operators(pace_stage_runs *runs, const pace_step *step, const pace_marks *marks,
                                  uint64_t *linked) {
    PACE_ITEMS (const pace_gradient, own, &step->gradients) {
        put(linked, own->task);
        if (own->forward != PACE_NO_TASK && step->stage[own->forward] == PACE_STAGE_FORWARD) put(linked, own->forward);
    }
    for (uint32_t task = 0; task < step->count; task++) {
        if (linked[task / 64] == 0) task |= 63; /* none of these */
        else if (linked[task / 64] >> task % 64 & 1) PACE_TRY(add_operator(runs, step, marks, task));
    }
    return PACE_OK;
}

static pace_status order(pace_stage_runs *runs) {
    pace_stage_run *scratch = pace_alloc(runs->count + 1, sizeof *scratch);
    if (!scratch) return PACE_E_MEMORY;
    pace_sort_runs(runs->items, scratch, runs->count, sizeof *scratch, by_start);
    pace_free(scratch);
    return PACE_OK;
}

pace_status pace_stage_runs_find(pace_stage_runs *out, const pace_step *step, const pace_marks *marks) {
    pace_stage_runs runs = {0};
    uint64_t *linked = pace_alloc(step->count / 64 + 1, sizeof *linked);
    pace_status status = linked ? list_operators(&runs, step, marks, linked) : PACE_E_MEMORY;
    if (status == PACE_OK) status = order(&runs);
    if (status == PACE_OK) join(&runs);
    pace_free(linked);
    return PACE_GIVE(out, runs, status, PACE_VEC_FREE(&runs));
}

/* The last run that begins by an instant; runs->count when none does. */
static size_t run_at(const pace_stage_runs *runs, int64_t host_ns) {
    size_t low = 0;
    PACE_SEARCH(low, runs->count, middle, runs->items[middle].from_ns <= host_ns);
    return low ? low - 1 : runs->count;
}

bool pace_stage_runs_cross(const pace_stage_runs *runs, const pace_step *step, const pace_gradient *gradient) {
    if (gradient->forward == PACE_NO_TASK || step->stage[gradient->forward] != PACE_STAGE_FORWARD) return false;
    size_t made = run_at(runs, step->start_ns[gradient->forward]), at = run_at(runs, step->start_ns[gradient->task]);
    if (made == runs->count || at == runs->count) return false;
    while (at > made && runs->items[at].stage != PACE_STAGE_FORWARD) at--;
    return at > made && runs->items[at].mark == runs->items[made].mark;
}

uint8_t pace_stage_between(const pace_stage_runs *runs, const pace_marks *marks, int64_t host_ns, bool interleaved) {
    size_t at = run_at(runs, host_ns), next = at == runs->count ? 0 : at + 1;
    const pace_stage_run *before = at < runs->count ? &runs->items[at] : NULL;
    const pace_stage_run *after = next < runs->count ? &runs->items[next] : NULL;
    if (before && host_ns < before->to_ns) return before->stage;
    ptrdiff_t mark = pace_marks_at(marks, host_ns);
    if (before && before->mark != mark) before = NULL;
    if (after && after->mark != mark) after = NULL;
    bool ended = before && before->stage == PACE_STAGE_BACKWARD;
    if (ended && (!after || marks->items.count == 0)) return PACE_STAGE_UPDATE;
    if (before && after && interleaved) return PACE_STAGE_NONE;
    return after && (before || after->stage == PACE_STAGE_FORWARD) ? PACE_STAGE_FORWARD : PACE_STAGE_NONE;
}
