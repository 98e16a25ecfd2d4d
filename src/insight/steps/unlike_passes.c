#include "insight/steps/unlike_passes.h"

#include "base/sort.h"
#include "insight/spread.h"

typedef PACE_VEC(int64_t) lengths;

static bool is_in_usual_step(const pace_rank *rank, const pace_spread *spread, const pace_work_item *item) {
    ptrdiff_t mark = pace_marks_at(&rank->marks, pace_task_issued_ns(&rank->step, item->task));
    return mark < 0 || spread->notes.items[mark].verdict == PACE_STEP_USUAL;
}

static pace_status list_passes(lengths *out, const char **name, const pace_rank *rank) {
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < rank->work.items.count; i++) {
        const pace_work_item *item = &rank->work.items.items[i];
        if (item->class == PACE_WORK_COMMUNICATION || item->stage != PACE_STAGE_FORWARD) continue;
        if (!is_in_usual_step(rank, &spread, item)) continue;
        *name = pace_step_name(&rank->step, item->task);
        status = PACE_PUSH(out, item->end_ns - item->start_ns);
    }
    pace_spread_free(&spread);
    return status;
}

/* Few passes tell nothing. */
static pace_status measure(pace_unlike_passes *out, const pace_rank *rank) {
    enum { FEWEST = 10 };
    lengths passes = {0};
    *out = (pace_unlike_passes){0};
    pace_status status = list_passes(&passes, &out->name, rank);
    if (status == PACE_OK && passes.count >= FEWEST) {
        pace_order_ns(passes.items, passes.count);
        out->short_ns = passes.items[passes.count / 10];
        out->long_ns = passes.items[passes.count - 1 - passes.count / 10];
        out->found = out->long_ns * 3 >= out->short_ns * 4;
    }
    PACE_VEC_FREE(&passes);
    return status;
}

pace_status pace_unlike_passes_find(pace_unlike_passes *out, pace_rank *const *ranks, size_t count, size_t rank) {
    size_t unlike = 0;
    *out = (pace_unlike_passes){0};
    for (size_t r = 0; r < count && ranks[r]->step.of_passes; r++) {
        pace_unlike_passes own;
        PACE_TRY(measure(&own, ranks[r]));
        unlike += own.found;
        if (r == rank) *out = own;
    }
    out->found = out->found && unlike * 2 >= count;
    return PACE_OK;
}
