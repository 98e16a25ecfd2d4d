#include "insight/ranks/host_exchanges.h"

#include "base/order.h"
#include "step/exchange_ranges.h"

#include <stdlib.h>

PACE_ORDER(by_task, pace_host_exchange, PACE_UP(rank) PACE_UP(task))
PACE_ORDER(by_place, pace_host_exchange, PACE_UP(rank) PACE_TEXT(name) PACE_UP(start_ns) PACE_UP(task))
PACE_ORDER(by_number, pace_host_exchange, PACE_TEXT(name) PACE_UP(number) PACE_UP(rank))

/* Those of a trace, in the order of its tasks. Where the host is the device they are work, and matched as such. */
static pace_status list(pace_host_exchanges *all, const pace_rank *rank, uint32_t index) {
    const pace_step *step = &rank->step;
    for (uint32_t task = 0; task < step->count && !rank->work.host_is_device; task++) {
        if (!pace_task_may_meet(step, task)) continue;
        const char *frame = pace_task_waits_in_capsule(step, task);
        const char *name = frame ? frame : pace_step_name(step, task);
        pace_host_exchange one = {name, step->start_ns[task], 0, index, task, PACE_NO_SEGMENT};
        PACE_TRY(PACE_PUSH(all, one));
    }
    return PACE_OK;
}

/* The first segment of each: it has no length, and what is left of the exchange follows. */
static void find_segments(pace_host_exchanges *all, const pace_replay *replay, const uint32_t *lane_rank) {
    const pace_segment *segments = replay->segments.items;
    for (uint32_t i = 0; i + 1 < replay->segments.count; i++) {
        if (segments[i].duration_ns != 0 || segments[i + 1].task != segments[i].task) continue;
        pace_host_exchange key = {.rank = lane_rank[pace_segment_lane(replay, i)], .task = segments[i].task};
        pace_host_exchange *found = bsearch(&key, all->items, all->count, sizeof key, by_task);
        if (found && found->segment == PACE_NO_SEGMENT) found->segment = i;
    }
}

static void number(pace_host_exchanges *all) {
    PACE_SORT(all, by_place);
    for (size_t i = 1; i < all->count; i++) {
        const pace_host_exchange *before = &all->items[i - 1];
        bool again = before->rank == all->items[i].rank && strcmp(before->name, all->items[i].name) == 0;
        all->items[i].number = again ? before->number + 1 : 0;
    }
    PACE_SORT(all, by_number);
}

pace_status pace_host_exchanges_find(pace_host_exchanges *out, const pace_replay *replay, const uint32_t *lane_rank,
                                     const pace_analysis *analysis) {
    pace_host_exchanges all = {0};
    pace_status status = PACE_OK;
    for (uint32_t r = 0; status == PACE_OK && r < analysis->ranks.count; r++) {
        const pace_rank *trace = pace_rank_trace(analysis->ranks.items[r]);
        if (r == 0 || trace != pace_rank_trace(analysis->ranks.items[r - 1]))
            status = list(&all, analysis->ranks.items[r], r);
    }
    if (status == PACE_OK && all.count) {
        find_segments(&all, replay, lane_rank);
        number(&all);
    }
    return PACE_GIVE(out, all, status, PACE_VEC_FREE(&all));
}

bool pace_host_exchanges_meet(const pace_host_exchange *one, const pace_host_exchange *other) {
    return one->number == other->number && strcmp(one->name, other->name) == 0;
}
