#include "insight/ranks/lateness.h"

#include "base/order.h"

#include <stdlib.h>

enum { SHOWN_BY_RANK = 16 };

static void add_waits(pace_lateness *rows, const pace_analysis *analysis, const pace_measured_collective *own) {
    for (size_t r = 0; r < analysis->ranks.count; r++) {
        uint32_t part = analysis->collectives.parts.items[own->first_part + r];
        if (part == PACE_NO_TASK) continue;
        const pace_work_item *item = &analysis->ranks.items[r]->work.items.items[part];
        if (item->wait_until_ns > item->start_ns) rows[r].waiting_ns += item->wait_until_ns - item->start_ns;
    }
}

/* Of the whole trace, with what was left out of its steps. */
static int64_t compute_ns(const pace_rank *rank) {
    const pace_step_fold *fold = &rank->fold;
    int64_t sum = rank->work.window.compute_ns;
    for (unsigned i = 0; fold->times && i < fold->steps; i++)
        sum += fold->times *
               pace_intervals_within(&rank->work.compute, fold->from_ns[i], fold->from_ns[i] + fold->period_ns);
    return sum;
}

PACE_ORDER(latest_first, pace_lateness, PACE_DOWN(late_ns) PACE_UP(waiting_ns) PACE_UP(rank) PACE_UP(device))

pace_status pace_lateness_of(pace_lateness **out, const pace_analysis *analysis) {
    const pace_collectives *c = &analysis->collectives;
    size_t ranks = analysis->ranks.count;
    double mean = 0;
    pace_lateness *rows = pace_alloc(ranks, sizeof *rows);
    int64_t *late_ns = pace_alloc(ranks, sizeof *late_ns);
    pace_status status = rows && late_ns ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_collectives_lateness(late_ns, c, analysis->ranks.items, ranks, NULL, 1);
    if (status != PACE_OK) {
        PACE_FREE(rows, late_ns);
        return status;
    }
    for (size_t r = 0; r < ranks; r++) {
        const pace_rank *rank = analysis->ranks.items[r];
        rows[r] = (pace_lateness){.index = (uint32_t)r,
                                  .device = rank->device_id,
                                  .rank = rank->step.rank >= 0 ? rank->step.rank : INT64_MIN,
                                  .late_ns = late_ns[r],
                                  .compute_ns = compute_ns(rank)};
        mean += (double)rows[r].compute_ns / (double)ranks;
    }
    for (size_t r = 0; r < ranks; r++) rows[r].compute_over_mean = mean > 0 ? (double)rows[r].compute_ns / mean - 1 : 0;
    PACE_ITEMS (const pace_measured_collective, own, &c->items) {
        rows[own->last_rank].times_last += own->margin_ns > 0;
        add_waits(rows, analysis, own);
    }
    if (ranks > SHOWN_BY_RANK) qsort(rows, ranks, sizeof *rows, latest_first);
    pace_free(late_ns);
    *out = rows;
    return PACE_OK;
}
