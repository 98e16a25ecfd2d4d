#include "schedule/replay.h"

#include <string.h>

void pace_replay_free(pace_replay *replay) { PACE_VEC_FREE(&replay->segments, &replay->waits, &replay->lane_first); }

const pace_segment_wait *pace_segment_wait_in(const pace_replay *replay, const pace_segment *segment, unsigned slot) {
    PACE_WAITS(const pace_segment_wait, wait, replay, segment)
    if (wait->slot == slot) return wait;
    return NULL;
}

/* Where a slot stands among a segment's waits. */
static unsigned place_of(unsigned slot) { return slot == PACE_WAIT_OVERLAP ? 0 : slot + 1; }

pace_segment_wait *pace_segment_own_wait(pace_replay *replay, pace_segment *segment, unsigned slot) {
    pace_segment_wait *before = NULL;
    PACE_WAITS(pace_segment_wait, wait, replay, segment) {
        if (wait->slot == slot) return wait;
        if (place_of(wait->slot) < place_of(slot)) before = wait;
    }
    size_t at = before ? (size_t)(before - replay->waits.items) : 0;
    pace_segment_wait added = {.on = PACE_NO_SEGMENT,
                               .slot = slot & 3,
                               .next = (before ? before->next : segment->wait) & PACE_WAITS_MOST};
    if (replay->waits.count >= PACE_WAITS_MOST || PACE_PUSH(&replay->waits, added) != PACE_OK) {
        replay->short_of_memory = true;
        return NULL;
    }
    if (before) replay->waits.items[at].next = replay->waits.count & PACE_WAITS_MOST;
    else segment->wait = (uint32_t)replay->waits.count;
    return &replay->waits.items[replay->waits.count - 1];
}

pace_segment_wait *pace_segment_depend(pace_replay *replay, pace_segment *segment, uint32_t on, int64_t lag_ns,
                                       bool from_start) {
    unsigned slot = 0;
    PACE_WAITS(const pace_segment_wait, taken, replay, segment)
    slot += taken->slot == slot && taken->on != PACE_NO_SEGMENT;
    pace_segment_wait *wait = slot < PACE_SEGMENT_DEPENDENCIES ? pace_segment_own_wait(replay, segment, slot) : NULL;
    if (!wait) return NULL;
    wait->on = on;
    wait->lag_ns = lag_ns;
    wait->from_start = from_start;
    return wait;
}

static pace_status explain(pace_replay *replay, uint32_t lane) {
    for (uint32_t i = replay->lane_first.items[lane]; i < replay->lane_first.items[lane + 1]; i++) {
        pace_segment *s = &replay->segments.items[i];
        int64_t ready = replay->origin_ns, overlap_ns = 0;
        if (i > replay->lane_first.items[lane]) {
            int64_t end = pace_segment_end(s - 1);
            ready = s->start_ns < end ? s->start_ns : end;
            overlap_ns = ready - end;
            if (overlap_ns < 0 && !pace_segment_own_wait(replay, s, PACE_WAIT_OVERLAP)) return PACE_E_MEMORY;
        }
        PACE_WAITS(pace_segment_wait, wait, replay, s) {
            if (wait->slot == PACE_WAIT_OVERLAP) wait->lag_ns = overlap_ns;
            if (wait->on == PACE_NO_SEGMENT) continue;
            const pace_segment *on = &replay->segments.items[wait->on];
            int64_t base = wait->from_start ? on->start_ns : pace_segment_end(on);
            if (base + wait->lag_ns > s->start_ns) wait->lag_ns = s->start_ns - base;
            if (base + wait->lag_ns > ready) ready = base + wait->lag_ns;
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
    uint64_t *ran;                   /* a bit a segment */
    uint32_t *cursor, *next_waiting; /* per lane: its first segment that has not run; the next lane that waits + 1 */
    uint32_t *runnable;
    size_t runnable_count;
} walker;

static bool has_run(const walker *w, uint32_t segment) { return w->ran[segment / 64] >> segment % 64 & 1; }

static int64_t end_of(const walker *w, uint32_t segment) {
    const pace_segment *s = &w->replay->segments.items[segment];
    return w->start_ns[segment] + pace_replay_scaled(s->duration_ns, w->factor[s->resource]);
}

/* A lag below zero is an overlap, not work: a faster resource does not shorten it. */
static int64_t lag_of(const walker *w, const pace_segment *s, int64_t lag_ns) {
    return lag_ns > 0 ? pace_replay_scaled(lag_ns, w->factor[s->lag_resource]) : lag_ns;
}

/* The dependency that has not run yet, or PACE_NO_SEGMENT after the segment has been placed. `ready`: its lane is. */
static uint32_t place(walker *w, const pace_segment *s, uint32_t segment, bool first, int64_t ready) {
    uint8_t bound = first ? PACE_BOUND_BY_ORIGIN : PACE_BOUND_BY_LANE;
    PACE_WAITS(const pace_segment_wait, wait, w->replay, s) {
        uint32_t on = wait->on;
        if (wait->slot == PACE_WAIT_OVERLAP && !first) {
            ready += wait->lag_ns;
            if (ready < w->start_ns[segment - 1]) ready = w->start_ns[segment - 1];
        }
        if (on == PACE_NO_SEGMENT) continue;
        if (!has_run(w, on)) return on;
        int64_t met = (wait->from_start ? w->start_ns[on] : end_of(w, on)) + lag_of(w, s, wait->lag_ns);
        if (met > ready) {
            ready = met;
            bound = (uint8_t)(PACE_BOUND_BY_DEPENDENCY + wait->slot);
        }
    }
    w->start_ns[segment] = ready + pace_replay_scaled(s->delay_ns, w->factor[s->delay_resource]);
    if (w->bound) w->bound[segment] = bound;
    return PACE_NO_SEGMENT;
}

static void wake(walker *w, uint32_t first) {
    for (uint32_t lane = first; lane; lane = w->next_waiting[lane - 1]) w->runnable[w->runnable_count++] = lane - 1;
}

static void walk_lane(walker *w, uint32_t lane) {
    uint32_t first = w->replay->lane_first.items[lane], end = w->replay->lane_first.items[lane + 1];
    uint32_t segment = w->cursor[lane], blocker = PACE_NO_SEGMENT;
    int64_t ready = segment == first ? w->replay->origin_ns : end_of(w, segment - 1);
    for (; segment < end; segment++) {
        const pace_segment *s = &w->replay->segments.items[segment];
        uint32_t waiting = (uint32_t)w->start_ns[segment];
        blocker = place(w, s, segment, segment == first, ready);
        if (blocker != PACE_NO_SEGMENT) break;
        w->ran[segment / 64] |= UINT64_C(1) << segment % 64;
        ready = w->start_ns[segment] + pace_replay_scaled(s->duration_ns, w->factor[s->resource]);
        if (waiting) wake(w, waiting);
    }
    w->cursor[lane] = segment;
    if (blocker == PACE_NO_SEGMENT) return;
    w->next_waiting[lane] = (uint32_t)w->start_ns[blocker];
    w->start_ns[blocker] = lane + 1;
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
    pace_status status = PACE_MAKE(w.cursor, lanes * 3) && PACE_MAKE(w.ran, count / 64 + 1) ? PACE_OK : PACE_E_MEMORY;
    if (count) memset(start_ns, 0, count * sizeof *start_ns);
    if (status == PACE_OK) {
        w.next_waiting = w.cursor + lanes;
        w.runnable = w.cursor + 2 * lanes;
        status = walk(&w, (uint32_t)lanes);
    }
    PACE_FREE(w.cursor, w.ran);
    return status;
}
