#include "insight/timeline/timeline_zones.h"

#include "base/order.h"
#include "insight/timeline/timeline_cut.h"

/* Merging begins with slices of so many to a stretch, and goes on to twice as long ones until they have room. */
enum { PARTS = 200000 };

/* A stretch of a trace that should be shown task by task. */
typedef struct {
    size_t trace;
    int64_t from_ns, to_ns;
    size_t priority;
} wish;

typedef PACE_VEC(wish) wishes;

/* --- what is wished for ------------------------------------------------------------------------------------------- */

static wish whole_trace(size_t trace) { return (wish){trace, INT64_MIN, INT64_MAX, 0}; }

/* All that a step does, on the host and on the device. */
static wish of_mark(size_t trace, const pace_mark *mark) {
    bool works = mark->to_ns > mark->from_ns;
    return (wish){.trace = trace,
                  .from_ns = works && mark->from_ns < mark->start_ns ? mark->from_ns : mark->start_ns,
                  .to_ns = works && mark->to_ns > mark->end_ns ? mark->to_ns : mark->end_ns};
}

static size_t distance(size_t a, size_t b) { return a > b ? a - b : b - a; }

enum { FAR = 1000000 }; /* more than steps of a trace */

/* Of one rank; `number` is that of the reported step, `near` its place. */
static pace_status wish_steps(wishes *list, size_t trace, const pace_rank *rank, bool reported, int64_t number,
                              size_t near) {
    size_t count = rank->marks.items.count;
    int64_t *numbers = pace_alloc(count, sizeof *numbers);
    if (!numbers) return PACE_E_MEMORY;
    pace_mark_numbers(numbers, &rank->marks, &rank->step.names);
    pace_status status = PACE_OK;
    for (size_t k = 0; k < count && status == PACE_OK; k++) {
        wish one = of_mark(trace, &rank->marks.items.items[k]);
        if (reported) one.priority = k == near ? 0 : FAR + distance(k, near);
        else one.priority = numbers[k] == number ? 1 : 2 * FAR + distance(k, near);
        status = PACE_PUSH(list, one);
    }
    pace_free(numbers);
    return status;
}

PACE_ORDER(by_priority, wish, PACE_UP(priority) PACE_UP(trace) PACE_UP(from_ns))

static pace_status make_wishes(wishes *list, pace_rank *const *traces, size_t count, const pace_rank *reported,
                               size_t mark) {
    const pace_rank *own = pace_rank_trace(reported);
    int64_t number = mark == SIZE_MAX ? 0 : pace_mark_number(&reported->marks, &reported->step.names, mark);
    for (size_t t = 0; t < count; t++) {
        bool is_own = traces[t] == own;
        if (mark == SIZE_MAX && is_own) PACE_TRY(PACE_PUSH(list, whole_trace(t)));
        else PACE_TRY(wish_steps(list, t, is_own ? reported : traces[t], is_own, number, mark));
    }
    PACE_SORT(list, by_priority);
    return PACE_OK;
}

/* --- what has room ------------------------------------------------------------------------------------------------ */

/* Tasks that start in the stretch; a device's count thrice, for the tiles of stages and resources above them. */
static size_t slices_of(const pace_rank *trace, const wish *w) {
    const pace_step *step = &trace->step;
    size_t count = 0;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        size_t tasks = pace_lane_first_from(step, lane, w->to_ns) - pace_lane_first_from(step, lane, w->from_ns);
        count += lane->device ? 3 * tasks : tasks;
    }
    return count;
}

/* --- how far lanes are merged ------------------------------------------------------------------------------------- */

/* How far something is merged. */
typedef struct {
    int64_t thin_ns, run_ns;
} coarseness;

static pace_status count_cut(size_t *out, pace_drawn_slices *drawn, const pace_step *step, const pace_lane *part,
                             coarseness by) {
    pace_zone all = {INT64_MIN, INT64_MAX, by.thin_ns, by.run_ns};
    PACE_TRY(pace_lane_cut(drawn, step, part, &(pace_zones){&all, 1, 1}));
    *out = drawn->count;
    return PACE_OK;
}

/* Merges ever longer tasks until the part of a lane has at most `limit` slices, then cuts the runs of merged tasks as
 * finely as fits: tasks of a lane are often alike, and all of them become short at once. */
static pace_status fit_part(coarseness *out, pace_drawn_slices *drawn, const pace_step *step, const pace_lane *part,
                            int64_t length_ns, size_t limit) {
    size_t count = part->count;
    coarseness by = {0};
    for (int64_t thin = length_ns / PARTS + 1; count > limit && thin < INT64_MAX / 4; thin *= 2) {
        by = (coarseness){thin, 2 * thin};
        PACE_TRY(count_cut(&count, drawn, step, part, by));
    }
    *out = by;
    while (by.run_ns > 1 && count <= limit) {
        *out = by;
        by.run_ns /= 2;
        PACE_TRY(count_cut(&count, drawn, step, part, by));
    }
    return PACE_OK;
}

static pace_status fit_lane(coarseness *out, const pace_step *step, const pace_lane *lane, const wish *w,
                            int64_t length_ns, size_t limit) {
    const uint32_t first = pace_lane_first_from(step, lane, w->from_ns);
    const pace_lane part = {.first = first, .count = pace_lane_first_from(step, lane, w->to_ns) - first};
    pace_drawn_slices drawn = {0};
    pace_status status = fit_part(out, &drawn, step, &part, length_ns, limit);
    PACE_VEC_FREE(&drawn);
    return status;
}

/* How many slices a lane may have, when small lanes are shown whole and the others share what is left. */
static size_t fair_share(const pace_step *step, const wish *w, size_t limit) {
    size_t share = 0, left = limit, lanes = step->lanes.count;
    for (bool grows = true; grows && lanes > 0;) {
        size_t next = left / lanes, small = 0, used = 0;
        PACE_ITEMS (const pace_lane, lane, &step->lanes) {
            size_t count = pace_lane_first_from(step, lane, w->to_ns) - pace_lane_first_from(step, lane, w->from_ns);
            if (lane->device) count *= 3;
            if (count <= next) small++, used += count;
        }
        grows = next > share && small > 0 && used < limit;
        share = next;
        lanes = step->lanes.count - small;
        left = limit - (used < limit ? used : limit);
    }
    return share;
}

/* How far each lane of a trace is merged in a stretch, and the whole: as its most merged stream. */
static pace_status fit_trace(coarseness *lanes, coarseness *summary, const pace_step *step, const wish *w,
                             int64_t length_ns, size_t limit) {
    size_t share = fair_share(step, w, limit);
    int64_t most_ns = length_ns / (int64_t)(limit + 1) + 1;
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        PACE_TRY(fit_lane(&lanes[i], step, lane, w, length_ns, lane->device ? share / 3 : share));
        if (lane->device && lanes[i].run_ns > most_ns) most_ns = lanes[i].run_ns;
    }
    *summary = (coarseness){most_ns, most_ns};
    return PACE_OK;
}

/* --- zones -------------------------------------------------------------------------------------------------------- */

static int64_t span_ns(const pace_rank *trace) {
    int64_t last = 0;
    for (uint32_t task = 0; task < trace->step.count; task++) {
        int64_t end = pace_step_end_ns(&trace->step, task);
        if (end > last) last = end;
    }
    return last - trace->step.begins_ns;
}

/* The stretches of a trace that were granted, by start; the gaps between them are merged as `rest` says, the step that
 * is too large as `own` does. */
static pace_status add_zones(pace_zones *out, const wishes *granted, size_t t, const wish *too_large, coarseness own,
                             coarseness rest) {
    int64_t at = INT64_MIN;
    PACE_ITEMS (const wish, w, granted) {
        int64_t from_ns = w->from_ns < at ? at : w->from_ns;
        if (w->trace != t || from_ns >= w->to_ns) continue;
        bool large = too_large && w->from_ns == too_large->from_ns;
        const coarseness by = large ? own : (coarseness){0};
        if (from_ns > at) PACE_TRY(PACE_PUSH(out, ((pace_zone){at, from_ns, rest.thin_ns, rest.run_ns})));
        PACE_TRY(PACE_PUSH(out, ((pace_zone){from_ns, w->to_ns, by.thin_ns, by.run_ns})));
        at = w->to_ns;
    }
    return at < INT64_MAX ? PACE_PUSH(out, ((pace_zone){at, INT64_MAX, rest.thin_ns, rest.run_ns})) : PACE_OK;
}

typedef struct {
    const wishes *granted;    /* by start */
    const wish *too_large;    /* NULL = none */
    size_t limit, rest_limit; /* for the step that is too large, and for the rest of a trace */
} terms;

/* Whether all of a trace was granted. */
static bool is_covered(const wishes *granted, size_t t) {
    PACE_ITEMS (const wish, w, granted)
        if (w->trace == t && w->from_ns == INT64_MIN && w->to_ns == INT64_MAX) return true;
    return false;
}

static pace_status zones_of(pace_trace_zones *out, const pace_rank *trace, size_t t, const terms *by) {
    const pace_step *step = &trace->step;
    size_t lanes = step->lanes.count;
    const wish all = whole_trace(t), *large = by->too_large && by->too_large->trace == t ? by->too_large : NULL;
    int64_t span = span_ns(trace);
    coarseness *rest =
        pace_alloc(2 * (lanes + 1), sizeof *rest); /* of each lane and of the whole; then of a large step */
    coarseness *own = rest ? rest + lanes + 1 : NULL;
    out->lanes = pace_alloc(lanes + 1, sizeof *out->lanes);
    out->lane_count = lanes;
    pace_status status = rest && out->lanes ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && !is_covered(by->granted, t))
        status = fit_trace(rest, &rest[lanes], step, &all, span, by->rest_limit);
    if (status == PACE_OK && large) {
        int64_t length = large->to_ns == INT64_MAX ? span : large->to_ns - large->from_ns;
        status = fit_trace(own, &own[lanes], step, large, length, by->limit);
    }
    for (size_t i = 0; status == PACE_OK && i < lanes; i++)
        status = add_zones(&out->lanes[i], by->granted, t, large, own[i], rest[i]);
    if (status == PACE_OK) status = add_zones(&out->summary, by->granted, t, large, own[lanes], rest[lanes]);
    pace_free(rest);
    return status;
}

/* The wishes that have room, in order, in place. One that has not may leave room for a smaller one; the first is
 * granted always: returns whether it is too large. */
static bool grant(wishes *list, pace_rank *const *traces, size_t limit) {
    size_t used = 0, kept = 0;
    bool too_large = false;
    for (size_t i = 0; i < list->count; i++) {
        wish w = list->items[i];
        size_t count = slices_of(traces[w.trace], &w);
        if (used + count > limit && i > 0) continue;
        too_large = too_large || count > limit;
        used += count < limit ? count : limit;
        list->items[kept++] = w;
    }
    list->count = kept;
    return too_large;
}

PACE_ORDER(by_start, wish, PACE_UP(from_ns))

static bool has_room_for_all(pace_rank *const *traces, size_t count, size_t limit) {
    size_t sum = 0;
    for (size_t t = 0; t < count && sum <= limit; t++) {
        const wish all = whole_trace(t);
        sum += slices_of(traces[t], &all);
    }
    return sum <= limit;
}

static pace_status plan(pace_trace_zones *zones, wishes *list, pace_rank *const *traces, size_t count,
                        const pace_zone_limits *limits) {
    bool large = grant(list, traces, limits->whole_slices);
    const wish first = list->count ? list->items[0] : (wish){0};
    PACE_SORT(list, by_start);
    const terms by = {list, large ? &first : NULL, limits->whole_slices, limits->merged_slices / count};
    for (size_t t = 0; t < count; t++) PACE_TRY(zones_of(&zones[t], traces[t], t, &by));
    return PACE_OK;
}

void pace_zones_free(pace_trace_zones *zones, size_t trace_count) {
    for (size_t t = 0; zones && t < trace_count; t++) {
        for (size_t i = 0; zones[t].lanes && i < zones[t].lane_count; i++) PACE_VEC_FREE(&zones[t].lanes[i]);
        PACE_VEC_FREE(&zones[t].summary);
        pace_free(zones[t].lanes);
    }
    pace_free(zones);
}

/* All that there is, whatever its lane. */
static pace_status wish_all(wishes *list, size_t count) {
    for (size_t t = 0; t < count; t++) PACE_TRY(PACE_PUSH(list, whole_trace(t)));
    return PACE_OK;
}

pace_status pace_zones_plan(pace_trace_zones **out, pace_rank *const *traces, size_t trace_count,
                            const pace_rank *reported, size_t mark, const pace_zone_limits *limits) {
    pace_trace_zones *zones = pace_alloc(trace_count + 1, sizeof *zones);
    wishes list = {0};
    pace_status status = zones ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK)
        status = has_room_for_all(traces, trace_count, limits->whole_slices)
                     ? wish_all(&list, trace_count)
                     : make_wishes(&list, traces, trace_count, reported, mark);
    if (status == PACE_OK) status = plan(zones, &list, traces, trace_count, limits);
    PACE_VEC_FREE(&list);
    return PACE_GIVE(out, zones, status, pace_zones_free(zones, trace_count));
}
