#include "insight/ranks/beside_exchanges.h"

#include "base/order.h"

#include <stdlib.h>

/* Of which none is longer, four of five kernels that run alone last the same within this share of their median. */
#define ALIKE 0.2

/* Older traces count in whole microseconds. */
#define LEAST_NS 10000

enum { LEAST_ALONE = 3, LEAST_BESIDE = 2, MOST_KERNELS = 1 << 18 };

typedef struct {
    pace_name name, launch, shapes;
    bool beside;
    int64_t length_ns;
} kernel;

typedef PACE_VEC(kernel) kernels;

PACE_ORDER(by_likeness, kernel, PACE_UP(name) PACE_UP(launch) PACE_UP(shapes) PACE_UP(beside) PACE_UP(length_ns))

static bool alike(const kernel *a, const kernel *b) {
    return a->name == b->name && a->launch == b->launch && a->shapes == b->shapes;
}

static pace_name shapes_of(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_made_for(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (step->kind[at] == PACE_TASK_OP) return step->detail[at];
    return 0;
}

static bool computes(const pace_rank *rank, const pace_work_item *item) {
    return (item->class == PACE_WORK_COMPUTE_BOUND || item->class == PACE_WORK_MEMORY_BOUND) &&
           rank->step.kind[item->task] == PACE_TASK_KERNEL && item->end_ns > item->start_ns;
}

static pace_status collect(kernels *out, const pace_rank *rank, int64_t from_ns, int64_t to_ns) {
    const pace_work *work = &rank->work;
    for (size_t i = 0; i < work->items.count && out->count < MOST_KERNELS; i++) {
        const pace_work_item *item = &work->items.items[i];
        if (!computes(rank, item) || item->start_ns < from_ns || item->end_ns > to_ns) continue;
        int64_t length_ns = item->end_ns - item->start_ns;
        int64_t covered_ns = pace_intervals_within(&work->communication, item->start_ns, item->end_ns);
        if (covered_ns && 2 * covered_ns < length_ns) continue;
        PACE_TRY(PACE_PUSH(out, ((kernel){.name = rank->step.name[item->task],
                                          .launch = pace_step_launch(&rank->step, item->task),
                                          .shapes = shapes_of(&rank->step, item->task),
                                          .beside = covered_ns > 0,
                                          .length_ns = length_ns})));
    }
    return PACE_OK;
}

/* Kernels of one likeness, those alone first, each part by length. */
static void judge(pace_beside_exchanges *out, int64_t *lost_ns, const kernel *own, size_t count) {
    size_t alone = 0;
    int64_t time_ns = 0;
    while (alone < count && !own[alone].beside) alone++;
    for (size_t i = alone; i < count; i++) time_ns += own[i].length_ns;
    int64_t median_ns = alone ? own[alone / 2].length_ns : 0;
    double spread_ns = alone ? (double)(own[alone - 1 - alone / 10].length_ns - own[alone / 10].length_ns) : 0;
    if (median_ns < LEAST_NS || alone < LEAST_ALONE || count - alone < LEAST_BESIDE ||
        spread_ns > ALIKE * (double)median_ns) {
        out->unmatched_ns += time_ns;
        return;
    }
    int64_t alone_ns = median_ns * (int64_t)(count - alone);
    out->kernels += count - alone;
    out->time_ns += time_ns;
    out->alone_ns += alone_ns;
    *lost_ns += time_ns - alone_ns;
}

static void compare(pace_beside_exchanges *out, const pace_rank *rank, const kernels *all) {
    int64_t lost_ns = 0;
    for (size_t first = 0, end; first < all->count; first = end) {
        size_t kernels_before = out->kernels;
        for (end = first + 1; end < all->count && alike(&all->items[first], &all->items[end]);) end++;
        bool same = first && all->items[first].name == all->items[first - 1].name;
        if (!same) lost_ns = 0;
        judge(out, &lost_ns, &all->items[first], end - first);
        if (out->kernels > kernels_before && lost_ns > out->worst_ns) {
            out->worst_ns = lost_ns;
            out->worst = pace_names_text(&rank->step.names, all->items[first].name);
        }
    }
}

pace_status pace_beside_exchanges_find(pace_beside_exchanges *out, const pace_rank *rank) {
    pace_beside_exchanges found = {0};
    const pace_marks *marks = &rank->marks;
    int64_t from_ns = rank->work.window.first_ns, to_ns = rank->work.window.last_ns;
    if (marks->items.count) {
        from_ns = marks->items.items[0].from_ns;
        to_ns = marks->items.items[marks->items.count - 1].to_ns;
    }
    found.steps_ns = to_ns - from_ns;
    kernels all = {0};
    pace_status status = PACE_OK;
    if (!rank->work.host_is_device && rank->work.window.overlapped_ns > 0) status = collect(&all, rank, from_ns, to_ns);
    if (status == PACE_OK && all.count) {
        qsort(all.items, all.count, sizeof *all.items, by_likeness);
        compare(&found, rank, &all);
    }
    PACE_VEC_FREE(&all);
    if (status == PACE_OK) *out = found;
    return status;
}
