#include "insight/segment_waits.h"

enum {
    WAITS_KEPT = PACE_SEGMENT_DEPENDENCIES - 1, /* one place is left for the launch */
    ROUNDING_NS = 2000                          /* as in step/step_waits.c */
};

static uint32_t index_of(const pace_replay *replay, const pace_segment *s) {
    return (uint32_t)(s - replay->segments.items);
}

bool pace_segment_goes_on(const pace_replay *replay, uint32_t segment) {
    const pace_segment *s = &replay->segments.items[segment];
    return segment + 1 < replay->segments.count && s[1].task == s->task;
}

/* Device work may be cut in several segments; the last of them ends it. */
static uint32_t last_segment(const pace_replay *replay, uint32_t first) {
    if (first == PACE_NO_SEGMENT) return first;
    while (pace_segment_goes_on(replay, first)) first++;
    return first;
}

typedef struct {
    uint32_t on[WAITS_KEPT]; /* latest end first */
    int count;
} wait_list;

/* Those that ended last, of the ones that began before `until` and ended by then. */
static wait_list choose(const pace_replay *replay, const pace_step *step, const uint32_t *first_segment,
                        const pace_segment *s, int64_t until) {
    wait_list list = {.count = 0};
    size_t count;
    const pace_wait *waits = pace_step_waits(&count, step, s->task);
    if (count == 0) return list;
    const uint32_t *lane = &replay->lane_first.items[pace_segment_lane(replay, index_of(replay, s))];
    for (size_t i = 0; i < count; i++) {
        uint32_t on = last_segment(replay, first_segment[waits[i].on]);
        if (on == PACE_NO_SEGMENT) continue;
        const pace_segment *other = &replay->segments.items[on];
        if (other->start_ns >= until || pace_segment_end(other) > until + ROUNDING_NS ||
            (on >= lane[0] && on < lane[1]))
            continue;
        int at = list.count < WAITS_KEPT ? list.count++ : WAITS_KEPT;
        for (; at > 0 && pace_segment_end(&replay->segments.items[list.on[at - 1]]) < pace_segment_end(other); at--)
            if (at < WAITS_KEPT) list.on[at] = list.on[at - 1];
        if (at < WAITS_KEPT) list.on[at] = on;
    }
    return list;
}

static void add(pace_replay *replay, pace_segment *s, const wait_list *list, int64_t lag_ns) {
    for (int i = 0; i < list->count; i++) {
        pace_segment_wait *wait = pace_segment_depend(replay, s, list->on[i], lag_ns, false);
        if (wait) wait->recorded = true;
    }
}

/* From the end of the segment before to the end of this one. A call that found done what it waits for was not held up:
 * in a replay it may end no sooner than that, so the segment may start so much sooner, and its gap stays the host's. */
static int64_t own_time(const pace_replay *replay, const pace_segment *s) {
    uint32_t lane = pace_segment_lane(replay, index_of(replay, s));
    bool first = s == replay->segments.items + replay->lane_first.items[lane];
    return pace_segment_end(s) - (first ? replay->origin_ns : pace_segment_end(s - 1));
}

/* A call that returned after what it waits for had ended inside it is cut there: its last segment keeps the part
 * behind, and the wait becomes an edge. */
static void cut_call(const pace_replay *replay, pace_segment *s, const wait_list *list) {
    int64_t released = pace_segment_end(&replay->segments.items[list->on[0]]), end = pace_segment_end(s);
    if (released > end) released = end; /* by the rounding of whole microseconds */
    s->duration_ns = end - released;
    s->start_ns = released;
}

void pace_segments_add_waits(pace_replay *replay, const pace_step *step, const uint32_t *first_segment) {
    if (step->waits.count == 0) return;
    for (uint32_t i = 0; i < replay->segments.count; i++) {
        pace_segment *s = &replay->segments.items[i];
        bool call = step->kind[s->task] == PACE_TASK_CALL;
        if (call ? pace_segment_goes_on(replay, i) : first_segment[s->task] != i) continue; /* another part waits */
        wait_list list = choose(replay, step, first_segment, s, call ? pace_segment_end(s) : s->start_ns);
        if (list.count == 0) continue;
        bool held = !call || pace_segment_end(&replay->segments.items[list.on[0]]) > s->start_ns;
        if (call && held) cut_call(replay, s, &list);
        add(replay, s, &list, held ? 0 : -own_time(replay, s));
    }
}
