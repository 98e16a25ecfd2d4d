#include "insight/device_ends.h"

#include "insight/advice.h"
#include "base/order.h"

enum { MOST_TRIES = 256 };

static pace_status list_ends(pace_device_ends *ends, pace_lane_merge *merge) {
    pace_device_end one = {0};
    while ((one.segment = pace_lane_merge_next(&one.end_ns, merge)) != PACE_NO_SEGMENT)
        PACE_TRY(PACE_PUSH(&ends->ends, one));
    int64_t issued_ns = INT64_MAX;
    uint32_t first = PACE_NO_TASK;
    for (size_t i = ends->ends.count; i-- > 0;) {
        uint32_t task = ends->replay->segments.items[ends->ends.items[i].segment].task;
        int64_t own_ns = pace_task_issued_ns(ends->step, task);
        if (own_ns < issued_ns) first = task;
        if (own_ns < issued_ns) issued_ns = own_ns;
        ends->ends.items[i].first_issued = first;
    }
    return PACE_OK;
}

pace_status pace_device_ends_find(pace_device_ends *out, const pace_replay *replay, const pace_step *step,
                                  const bool *on_device) {
    pace_device_ends ends = {.replay = replay, .step = step};
    pace_lane_merge merge;
    PACE_TRY(pace_lane_merge_open(&merge, replay, on_device, true, PACE_MERGE_BY_END));
    pace_status status = list_ends(&ends, &merge);
    pace_lane_merge_free(&merge);
    return PACE_GIVE(out, ends, status, pace_device_ends_free(&ends));
}

void pace_device_ends_free(pace_device_ends *ends) { PACE_VEC_FREE(&ends->ends); }

/* How many have ended by an instant. */
static size_t ended_by(const pace_device_ends *ends, int64_t at_ns) {
    size_t low = 0;
    PACE_SEARCH(low, ends->ends.count, middle, ends->ends.items[middle].end_ns <= at_ns);
    return low;
}

uint32_t pace_device_ends_last(const pace_device_ends *ends, int64_t after, int64_t until, int64_t issued_by,
                               uint32_t not_lane) {
    const pace_step *step = ends->step;
    const uint32_t *lane = not_lane == UINT32_MAX ? (uint32_t[]){0, 0} : &ends->replay->lane_first.items[not_lane];
    size_t at = ended_by(ends, until);
    for (int tries = 0; at > 0 && tries < MOST_TRIES && ends->ends.items[at - 1].end_ns > after; tries++) {
        uint32_t segment = ends->ends.items[--at].segment;
        const pace_segment *s = &ends->replay->segments.items[segment];
        if ((segment >= lane[0] && segment < lane[1]) || pace_segment_end(s) <= after) continue;
        if (s->resource == PACE_ADVICE_BALANCE) continue;            /* that a wait is over sets nobody free */
        bool known = pace_task_cause(step, s->task) != PACE_NO_TASK; /* unknown launchers may have been early */
        if (!known || pace_task_issued_ns(step, s->task) <= issued_by) return segment;
    }
    return PACE_NO_SEGMENT;
}

bool pace_device_ends_drained(const pace_device_ends *ends, int64_t issued_by, int64_t at_ns) {
    size_t at = ended_by(ends, at_ns);
    return at == ends->ends.count || pace_task_issued_ns(ends->step, ends->ends.items[at].first_issued) > issued_by;
}
