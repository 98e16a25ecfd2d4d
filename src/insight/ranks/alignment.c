#include "insight/ranks/alignment.h"

#include <inttypes.h>

/* No exchange outlasts the ten minutes after which NCCL gives up, and clocks of one job are minutes apart at most. */
static const int64_t longest_apart_ns = INT64_C(600000000000);

/* When a rank was recorded, all its files together, on the wall's clock. False: the traces do not say. */
static bool recorded_at(int64_t *from_ns, int64_t *to_ns, pace_rank *const *traces, size_t count, size_t of) {
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const pace_rank *trace = traces[i];
        bool same = i == of || (trace->step.rank >= 0 && trace->step.rank == traces[of]->step.rank);
        if (!same || trace->work.items.count == 0) continue;
        int64_t from = trace->step.base_ns + trace->work.window.first_ns,
                to = trace->step.base_ns + trace->work.window.last_ns;
        if (from < *from_ns) *from_ns = from;
        if (to > *to_ns) *to_ns = to;
    }
    return *from_ns < *to_ns;
}

/* Recordings of one run are of the same minutes; whatever the clocks say where none of them is the wall's. */
static pace_status check_times(pace_rank *const *traces, size_t count) {
    int64_t first_from, first_to, from, to;
    if (!recorded_at(&first_from, &first_to, traces, count, 0)) return PACE_OK;
    for (size_t i = 1; i < count; i++) {
        if (!recorded_at(&from, &to, traces, count, i)) continue;
        int64_t apart = from > first_to ? from - first_to : first_from - to;
        if (apart > longest_apart_ns)
            return pace_fail(PACE_E_INPUT,
                             "traces of different runs: %s was recorded %.0f minutes %s %s; expected files of one run "
                             "('paceline compare' holds two against each other)",
                             traces[i]->path, (double)apart / 1e9 / 60, from > first_to ? "after" : "before",
                             traces[0]->path);
    }
    return PACE_OK;
}

pace_status pace_runs_check(pace_rank *const *traces, size_t count) {
    const pace_rank *known = NULL;
    for (size_t i = 0; i < count; i++) {
        const pace_step *step = &traces[i]->step;
        if (step->world_size <= 0) continue;
        if (step->rank >= step->world_size)
            return pace_fail(PACE_E_INPUT, "%s: expected a rank below its world size %" PRId64 ", found %" PRId64,
                             traces[i]->path, step->world_size, step->rank);
        if (known && known->step.world_size != step->world_size)
            return pace_fail(PACE_E_INPUT,
                             "traces of different runs: %s is of %" PRId64 " ranks, %s of %" PRId64
                             "; expected files of one run",
                             known->path, known->step.world_size, traces[i]->path, step->world_size);
        known = traces[i];
    }
    return check_times(traces, count);
}

static int64_t *numbers_of(const pace_rank *rank) {
    int64_t *numbers = pace_alloc(rank->marks.items.count, sizeof *numbers);
    if (numbers) pace_mark_numbers(numbers, &rank->marks, &rank->step.names);
    return numbers;
}

/* Both ascend. */
static size_t count_common(const int64_t *a, size_t a_count, const int64_t *b, size_t b_count) {
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        common += a[i] == b[j];
        if (a[i] <= b[j]) i++;
        else j++;
    }
    return common;
}

static bool is_annotated(const pace_rank *rank) {
    return rank->marks.origin == PACE_MARKS_ANNOTATED && rank->marks.items.count > 0;
}

static pace_status compare(pace_step_alignment *out, const pace_rank *first, const pace_rank *rank) {
    int64_t *a = numbers_of(first), *b = numbers_of(rank);
    size_t a_count = first->marks.items.count, b_count = rank->marks.items.count;
    pace_status status = a && b ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        size_t common = count_common(a, a_count, b, b_count);
        *out = common == 0                            ? PACE_STEPS_APART
               : common < a_count || common < b_count ? PACE_STEPS_PARTLY
                                                      : PACE_STEPS_ALIGN;
    }
    PACE_FREE(a, b);
    return status;
}

pace_status pace_steps_compare(pace_step_alignment *out, size_t *rank, pace_rank *const *ranks, size_t count) {
    *out = PACE_STEPS_ALIGN;
    *rank = 0;
    for (size_t r = 1; r < count; r++) {
        pace_step_alignment own = PACE_STEPS_ALIGN;
        if (is_annotated(ranks[0]) && is_annotated(ranks[r])) PACE_TRY(compare(&own, ranks[0], ranks[r]));
        if (own <= *out) continue;
        *out = own;
        *rank = r;
    }
    return PACE_OK;
}

int64_t pace_clock_moved_ns(const pace_rank *first, const pace_rank *rank) {
    int64_t moved = rank->shift_ns - first->shift_ns;
    if (first->step.base_ns > 0 && rank->step.base_ns > 0) moved -= rank->step.base_ns - first->step.base_ns;
    return moved;
}
