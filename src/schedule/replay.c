#include "schedule/replay.h"

#include <math.h>
#include <string.h>

const pace_segment_waits pace_waits_for_nothing = {.dependency = {PACE_NO_SEGMENT, PACE_NO_SEGMENT, PACE_NO_SEGMENT}};

void pace_replay_free(pace_replay *replay) { PACE_VEC_FREE(&replay->segments, &replay->waits, &replay->lane_first); }

pace_segment_waits *pace_segment_own_waits(pace_replay *replay, pace_segment *segment) {
    if (!segment->waits) {
        if (PACE_PUSH(&replay->waits, pace_waits_for_nothing) != PACE_OK) {
            replay->short_of_memory = true;
            return NULL;
        }
        segment->waits = (uint32_t)replay->waits.count;
    }
    return &replay->waits.items[segment->waits - 1];
}

int pace_segment_depend(pace_replay *replay, pace_segment *segment, uint32_t on, int64_t lag_ns, bool from_start) {
    pace_segment_waits *waits = pace_segment_own_waits(replay, segment);
    for (int d = 0; waits && d < PACE_SEGMENT_DEPENDENCIES; d++) {
        if (waits->dependency[d] != PACE_NO_SEGMENT) continue;
        waits->dependency[d] = on;
        waits->lag_ns[d] = lag_ns;
        waits->from_start |= (uint8_t)(from_start << d);
        return d;
    }
    return -1;
}

static int64_t scaled(int64_t ns, double factor) {
    if (factor == 1) return ns;
    return factor == 0 ? 0 : llround((double)ns * factor);
}

static pace_status explain(pace_replay *replay, uint32_t lane) {
    for (uint32_t i = replay->lane_first.items[lane]; i < replay->lane_first.items[lane + 1]; i++) {
        pace_segment *s = &replay->segments.items[i];
        int64_t ready = replay->origin_ns;
        if (i > replay->lane_first.items[lane]) {
            int64_t end = s[-1].start_ns + s[-1].duration_ns;
            bool overlaps = s->start_ns < end;
            pace_segment_waits *own = overlaps || s->waits ? pace_segment_own_waits(replay, s) : NULL;
            if (overlaps && !own) return PACE_E_MEMORY;
            if (own) own->overlap_ns = overlaps ? s->start_ns - end : 0;
            ready = overlaps ? s->start_ns : end;
        }
        for (int d = 0; s->waits && d < PACE_SEGMENT_DEPENDENCIES; d++) {
            pace_segment_waits *own = &replay->waits.items[s->waits - 1];
            if (own->dependency[d] == PACE_NO_SEGMENT) continue;
            const pace_segment *on = &replay->segments.items[own->dependency[d]];
            int64_t base = on->start_ns + (own->from_start >> d & 1 ? 0 : on->duration_ns);
            if (base + own->lag_ns[d] > s->start_ns) own->lag_ns[d] = s->start_ns - base;
            if (base + own->lag_ns[d] > ready) ready = base + own->lag_ns[d];
        }
        s->delay_ns = s->start_ns - ready;
    }
    return PACE_OK;
}

pace_status pace_replay_explain(pace_replay *replay) {
    if (replay->short_of_memory) return PACE_E_MEMORY;
    for (uint32_t lane = 0; lane + 1 < replay->lane_first.count; lane++) PACE_TRY(explain(replay, lane));
    return PACE_OK;
}

typedef struct {
    const pace_replay *replay;
    const double *factor;
    int64_t *start_ns; /* of a segment that has not run: the first lane that waits for it + 1 */
    uint8_t *bound;
    uint32_t *cursor, *next_waiting; /* per lane: its first segment that has not run; the next lane that waits + 1 */
    uint32_t *runnable;
    size_t runnable_count;
} walker;

static bool has_run(const walker *w, uint32_t segment) {
    return segment < w->cursor[w->replay->segments.items[segment].lane];
}

static int64_t end_of(const walker *w, uint32_t segment) {
    const pace_segment *s = &w->replay->segments.items[segment];
    return w->start_ns[segment] + scaled(s->duration_ns, w->factor[s->resource]);
}

/* A lag below zero is an overlap, not work: a faster resource does not shorten it. */
static int64_t lag_of(const walker *w, const pace_segment *s, int64_t lag_ns) {
    return lag_ns > 0 ? scaled(lag_ns, w->factor[s->lag_resource]) : lag_ns;
}

/* The dependency that has not run yet, or PACE_NO_SEGMENT after the segment has been placed. */
static uint32_t place(walker *w, uint32_t segment, bool first) {
    const pace_segment *s = &w->replay->segments.items[segment];
    const pace_segment_waits *waits = pace_segment_waits_of(w->replay, s);
    int64_t ready = w->replay->origin_ns;
    uint8_t bound = PACE_BOUND_BY_ORIGIN;
    if (!first) {
        ready = end_of(w, segment - 1) + waits->overlap_ns;
        if (ready < w->start_ns[segment - 1]) ready = w->start_ns[segment - 1];
        bound = PACE_BOUND_BY_LANE;
    }
    for (int d = 0; s->waits && d < PACE_SEGMENT_DEPENDENCIES; d++) {
        uint32_t on = waits->dependency[d];
        if (on == PACE_NO_SEGMENT) continue;
        if (!has_run(w, on)) return on;
        int64_t met = (waits->from_start >> d & 1 ? w->start_ns[on] : end_of(w, on)) + lag_of(w, s, waits->lag_ns[d]);
        if (met > ready) {
            ready = met;
            bound = (uint8_t)(PACE_BOUND_BY_DEPENDENCY + d);
        }
    }
    w->start_ns[segment] = ready + scaled(s->delay_ns, w->factor[s->delay_resource]);
    if (w->bound) w->bound[segment] = bound;
    return PACE_NO_SEGMENT;
}

static void wake(walker *w, uint32_t first) {
    for (uint32_t lane = first; lane; lane = w->next_waiting[lane - 1]) w->runnable[w->runnable_count++] = lane - 1;
}

static void walk_lane(walker *w, uint32_t lane) {
    const uint32_t *first = w->replay->lane_first.items;
    while (w->cursor[lane] < first[lane + 1]) {
        uint32_t segment = w->cursor[lane], waiting = (uint32_t)w->start_ns[segment];
        uint32_t blocker = place(w, segment, segment == first[lane]);
        if (blocker != PACE_NO_SEGMENT) {
            w->next_waiting[lane] = (uint32_t)w->start_ns[blocker];
            w->start_ns[blocker] = lane + 1;
            return;
        }
        w->cursor[lane]++;
        wake(w, waiting);
    }
}

static pace_status walk(walker *w, uint32_t lanes) {
    for (uint32_t lane = lanes; lane-- > 0;) {
        w->cursor[lane] = w->replay->lane_first.items[lane];
        w->runnable[w->runnable_count++] = lane;
    }
    while (w->runnable_count) walk_lane(w, w->runnable[--w->runnable_count]);
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (w->cursor[lane] < w->replay->lane_first.items[lane + 1])
            return pace_fail(PACE_E_INPUT,
                             "the schedule cannot finish: lane %u waits for ever at its segment %u (task %u)", lane,
                             w->cursor[lane] - w->replay->lane_first.items[lane],
                             w->replay->segments.items[w->cursor[lane]].task);
    return PACE_OK;
}

pace_status pace_replay_run(const pace_replay *replay, const double factor[PACE_REPLAY_RESOURCES], int64_t *start_ns,
                            uint8_t *bound) {
    size_t count = replay->segments.count, lanes = replay->lane_first.count ? replay->lane_first.count - 1 : 0;
    walker w = {.replay = replay, .factor = factor, .start_ns = start_ns, .bound = bound};
    if (!PACE_MAKE(w.cursor, lanes * 3)) return PACE_E_MEMORY;
    w.next_waiting = w.cursor + lanes;
    w.runnable = w.cursor + 2 * lanes;
    if (count) memset(start_ns, 0, count * sizeof *start_ns);
    pace_status status = walk(&w, (uint32_t)lanes);
    pace_free(w.cursor);
    return status;
}
