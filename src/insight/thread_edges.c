/* One sweep over the time of all host threads. Those that have done something stand in a list by when they ended it, so
 * that the one that went quiet last is its end; a thread that works again is taken out when it is met. */
#include "insight/thread_edges.h"

#include "insight/host_runs.h"
#include "insight/timeline/lane_merge.h"

#define NO_LANE UINT32_MAX

typedef struct {
    pace_replay *replay;
    uint32_t *last;           /* lane -> its last segment that has ended, PACE_NO_SEGMENT = not in the list */
    uint32_t *before, *after; /* the list: NO_LANE at its ends */
    uint32_t end;
} quiet_threads;

static void take_out(quiet_threads *q, uint32_t lane) {
    if (q->last[lane] == PACE_NO_SEGMENT) return;
    if (q->after[lane] == NO_LANE) q->end = q->before[lane];
    else q->before[q->after[lane]] = q->before[lane];
    if (q->before[lane] != NO_LANE) q->after[q->before[lane]] = q->after[lane];
    q->last[lane] = PACE_NO_SEGMENT;
}

static void put_last(quiet_threads *q, uint32_t lane, uint32_t segment) {
    take_out(q, lane);
    q->before[lane] = q->end;
    q->after[lane] = NO_LANE;
    if (q->end != NO_LANE) q->after[q->end] = lane;
    q->end = lane;
    q->last[lane] = segment;
}

static bool works_again(const quiet_threads *q, uint32_t lane, int64_t now) {
    uint32_t next = q->last[lane] + 1;
    return next < q->replay->lane_first.items[lane + 1] && q->replay->segments.items[next].start_ns < now;
}

/* The last segment of another thread that is quiet now and went so after `since`. */
static uint32_t last_to_end(quiet_threads *q, uint32_t own, int64_t since, int64_t now) {
    for (uint32_t lane = q->end, before; lane != NO_LANE; lane = before) {
        before = q->before[lane];
        if (pace_segment_end(&q->replay->segments.items[q->last[lane]]) <= since) break;
        if (lane == own) continue;
        if (!works_again(q, lane, now)) return q->last[lane];
        take_out(q, lane);
    }
    return PACE_NO_SEGMENT;
}

static void sweep(quiet_threads *q, pace_lane_merge *starts, pace_lane_merge *ends, int64_t from_ns) {
    int64_t start_ns, end_ns;
    uint32_t ending = pace_lane_merge_next(&end_ns, ends);
    for (uint32_t i; (i = pace_lane_merge_next(&start_ns, starts)) != PACE_NO_SEGMENT;) {
        pace_segment *s = &q->replay->segments.items[i];
        bool first = i == q->replay->lane_first.items[starts->lane];
        int64_t idle_from = first ? from_ns - 1 : pace_segment_end(s - 1);
        if (s->start_ns - idle_from < PACE_PAUSE_NS) continue;
        for (; ending != PACE_NO_SEGMENT && end_ns <= s->start_ns; ending = pace_lane_merge_next(&end_ns, ends))
            put_last(q, ends->lane, ending);
        uint32_t on = last_to_end(q, starts->lane, idle_from, s->start_ns);
        if (on != PACE_NO_SEGMENT) pace_segment_depend(q->replay, s, on, 0, false);
    }
}

static pace_status sweep_lanes(quiet_threads *q, const bool *on_device, int64_t from_ns) {
    pace_lane_merge starts, ends;
    PACE_TRY(pace_lane_merge_open(&starts, q->replay, on_device, false, PACE_MERGE_BY_START));
    pace_status status = pace_lane_merge_open(&ends, q->replay, on_device, false, PACE_MERGE_BY_END);
    if (status == PACE_OK) {
        sweep(q, &starts, &ends, from_ns);
        pace_lane_merge_free(&ends);
    }
    pace_lane_merge_free(&starts);
    return status;
}

pace_status pace_segments_add_thread_edges(pace_replay *replay, const bool *on_device, int64_t from_ns) {
    size_t lanes = replay->lane_first.count;
    quiet_threads q = {.replay = replay, .end = NO_LANE};
    pace_status status =
        PACE_MAKE(q.last, lanes) && PACE_MAKE(q.before, lanes) && PACE_MAKE(q.after, lanes) ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < lanes; i++) q.last[i] = PACE_NO_SEGMENT;
    if (status == PACE_OK) status = sweep_lanes(&q, on_device, from_ns);
    PACE_FREE(q.last, q.before, q.after);
    return status;
}
