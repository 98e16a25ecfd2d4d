#include "insight/lateness.h"

static void add_waits(pace_lateness *rows, const pace_analysis *analysis, const pace_measured_collective *own) {
    for (size_t r = 0; r < analysis->ranks.count; r++) {
        uint32_t part = analysis->collectives.parts.items[own->first_part + r];
        if (part == PACE_NO_TASK) continue;
        const pace_work_item *item = &analysis->ranks.items[r]->work.items.items[part];
        if (item->wait_until_ns > item->start_ns) rows[r].waiting_ns += item->wait_until_ns - item->start_ns;
    }
}

pace_status pace_lateness_of(pace_lateness **out, const pace_analysis *analysis) {
    const pace_collectives *c = &analysis->collectives;
    size_t ranks = analysis->ranks.count;
    double mean = 0;
    pace_lateness *rows = pace_alloc(ranks, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    for (size_t r = 0; r < ranks; r++) {
        const pace_rank *rank = analysis->ranks.items[r];
        rows[r] = (pace_lateness){.device = rank->device_id,
                                  .rank = rank->step.rank >= 0 ? rank->step.rank : INT64_MIN,
                                  .compute_ns = rank->work.window.compute_ns};
        mean += (double)rank->work.window.compute_ns / (double)ranks;
    }
    for (size_t r = 0; r < ranks; r++) rows[r].compute_over_mean = mean > 0 ? (double)rows[r].compute_ns / mean - 1 : 0;
    for (size_t i = 0; i < c->items.count; i++) {
        rows[c->items.items[i].last_rank].times_last++;
        add_waits(rows, analysis, &c->items.items[i]);
    }
    *out = rows;
    return PACE_OK;
}
