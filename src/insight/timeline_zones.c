#include "insight/timeline_zones.h"

#include "insight/timeline_cut.h"

#include <stdlib.h>

enum {
    COARSE_PARTS = 2000, /* stretches that are merged begin with parts of so many to the trace */
    FINE_PARTS = 200000  /* and a step too large to be shown whole, with so many to the step */
};

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
    for (size_t k = 0; k < rank->marks.items.count; k++) {
        wish one = of_mark(trace, &rank->marks.items.items[k]);
        bool same = pace_mark_number(&rank->marks, &rank->step.names, k) == number;
        if (reported) one.priority = k == near ? 0 : FAR + distance(k, near);
        else one.priority = same ? 1 : 2 * FAR + distance(k, near);
        PACE_TRY(PACE_PUSH(list, one));
    }
    return PACE_OK;
}

static int by_priority(const void *left, const void *right) {
    const wish *a = left, *b = right;
    if (a->priority != b->priority) return a->priority < b->priority ? -1 : 1;
    if (a->trace != b->trace) return a->trace < b->trace ? -1 : 1;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static pace_status make_wishes(wishes *list, pace_rank *const *traces, size_t count, const pace_rank *reported,
                               size_t mark) {
    const pace_rank *own = pace_rank_trace(reported);
    int64_t number = mark == SIZE_MAX ? 0 : pace_mark_number(&reported->marks, &reported->step.names, mark);
    for (size_t t = 0; t < count; t++) {
        bool is_own = traces[t] == own;
        if (mark == SIZE_MAX && is_own) PACE_TRY(PACE_PUSH(list, whole_trace(t)));
        else PACE_TRY(wish_steps(list, t, is_own ? reported : traces[t], is_own, number, mark));
    }
    qsort(list->items, list->count, sizeof *list->items, by_priority);
    return PACE_OK;
}

/* --- what has room ------------------------------------------------------------------------------------------------ */

static uint32_t first_from(const pace_step *step, const pace_lane *lane, int64_t from_ns) {
    uint32_t low = lane->first, high = lane->first + lane->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (step->start_ns[middle] < from_ns) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Tasks that start in the stretch; a device's count thrice, for the tiles of stages and resources above them. */
static size_t slices_of(const pace_rank *trace, const wish *w) {
    const pace_step *step = &trace->step;
    size_t count = 0;
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        size_t tasks = first_from(step, lane, w->to_ns) - first_from(step, lane, w->from_ns);
        count += lane->device ? 3 * tasks : tasks;
    }
    return count;
}

/* How many slices a trace has under zones. */
static pace_status count_cut(size_t *out, const pace_step *step, const pace_zones *zones) {
    pace_drawn_slices drawn = {0};
    pace_status status = PACE_OK;
    *out = 0;
    for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++) {
        status = pace_lane_cut(&drawn, step, &step->lanes.items[i], zones);
        *out += step->lanes.items[i].device ? 3 * drawn.count : drawn.count;
    }
    PACE_VEC_FREE(&drawn);
    return status;
}

/* The least power of two times `thin_ns` with which [from, to) of a trace has at most `limit` slices. */
static pace_status fit_thin(int64_t *out, const pace_step *step, int64_t from_ns, int64_t to_ns, int64_t thin_ns,
                            size_t limit) {
    for (int64_t thin = thin_ns < 1 ? 1 : thin_ns;; thin *= 2) {
        const int64_t all = INT64_MAX / 4; /* elsewhere a slice or two for all */
        pace_zone items[3] = {{INT64_MIN, from_ns, all}, {from_ns, to_ns, thin}, {to_ns, INT64_MAX, all}};
        size_t count;
        PACE_TRY(count_cut(&count, step, &(pace_zones){items, 3, 3}));
        *out = thin;
        if (count <= limit + 8 * step->lanes.count || thin > INT64_MAX / 16) return PACE_OK;
    }
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

static int by_start(const void *left, const void *right) {
    const pace_zone *a = left, *b = right;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Closes the gaps between chosen zones, which are sorted and cut where they overlap. */
static pace_status close_gaps(pace_zones *out, pace_zones *chosen, int64_t thin_ns) {
    int64_t at = INT64_MIN;
    if (chosen->count) qsort(chosen->items, chosen->count, sizeof *chosen->items, by_start);
    for (size_t i = 0; i < chosen->count; i++) {
        pace_zone zone = chosen->items[i];
        if (zone.from_ns < at) zone.from_ns = at;
        if (zone.from_ns >= zone.to_ns) continue;
        if (zone.from_ns > at) PACE_TRY(PACE_PUSH(out, ((pace_zone){at, zone.from_ns, thin_ns})));
        PACE_TRY(PACE_PUSH(out, zone));
        at = zone.to_ns;
    }
    return at < INT64_MAX ? PACE_PUSH(out, ((pace_zone){at, INT64_MAX, thin_ns})) : PACE_OK;
}

/* The wishes of trace `t` that were granted, and the rest as coarse as its share of the limit asks. */
static pace_status zones_of(pace_zones *out, const pace_rank *trace, size_t t, const wishes *granted,
                            const int64_t *thin_ns, size_t limit) {
    pace_zones chosen = {0};
    int64_t coarse = 0;
    pace_status status = PACE_OK;
    bool all = false;
    for (size_t i = 0; status == PACE_OK && i < granted->count; i++) {
        const wish *w = &granted->items[i];
        if (w->trace != t) continue;
        all = all || (w->from_ns == INT64_MIN && w->to_ns == INT64_MAX);
        status = PACE_PUSH(&chosen, ((pace_zone){w->from_ns, w->to_ns, thin_ns[i]}));
    }
    if (status == PACE_OK && !all)
        status = fit_thin(&coarse, &trace->step, INT64_MIN, INT64_MAX, span_ns(trace) / COARSE_PARTS, limit);
    if (status == PACE_OK) status = close_gaps(out, &chosen, coarse);
    PACE_VEC_FREE(&chosen);
    return status;
}

/* The wishes that have room, in order, in place. One that has not may leave room for a smaller one; the first is granted
 * always, as finely as fits: thin_ns says how. */
static pace_status grant(wishes *list, int64_t *thin_ns, pace_rank *const *traces, size_t limit) {
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        wish w = list->items[i];
        const pace_step *step = &traces[w.trace]->step;
        size_t count = slices_of(traces[w.trace], &w);
        if (used + count > limit && i > 0) continue;
        thin_ns[kept] = 0;
        if (count > limit) {
            int64_t length = w.to_ns == INT64_MAX ? span_ns(traces[w.trace]) : w.to_ns - w.from_ns;
            PACE_TRY(fit_thin(&thin_ns[kept], step, w.from_ns, w.to_ns, length / FINE_PARTS, limit));
        }
        used += count < limit ? count : limit;
        list->items[kept++] = w;
    }
    list->count = kept;
    return PACE_OK;
}

static bool has_room_for_all(pace_rank *const *traces, size_t count, size_t limit) {
    size_t sum = 0;
    for (size_t t = 0; t < count && sum <= limit; t++) sum += slices_of(traces[t], &(wish){t, INT64_MIN, INT64_MAX, 0});
    return sum <= limit;
}

static pace_status plan(pace_zones *zones, wishes *list, pace_rank *const *traces, size_t count,
                        const pace_zone_limits *limits) {
    int64_t *thin_ns = pace_alloc(list->count + 1, sizeof *thin_ns);
    if (!thin_ns) return PACE_E_MEMORY;
    pace_status status = grant(list, thin_ns, traces, limits->whole_slices);
    for (size_t t = 0; status == PACE_OK && t < count; t++)
        status = zones_of(&zones[t], traces[t], t, list, thin_ns, limits->merged_slices / count);
    pace_free(thin_ns);
    return status;
}

void pace_zones_free(pace_zones *zones, size_t trace_count) {
    for (size_t t = 0; zones && t < trace_count; t++) PACE_VEC_FREE(&zones[t]);
    pace_free(zones);
}

pace_status pace_zones_plan(pace_zones **out, pace_rank *const *traces, size_t trace_count, const pace_rank *reported,
                            size_t mark, const pace_zone_limits *limits) {
    pace_zones *zones = pace_alloc(trace_count + 1, sizeof *zones);
    wishes list = {0};
    pace_status status = zones ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && has_room_for_all(traces, trace_count, limits->whole_slices)) {
        for (size_t t = 0; status == PACE_OK && t < trace_count; t++)
            status = PACE_PUSH(&zones[t], ((pace_zone){INT64_MIN, INT64_MAX, 0}));
    } else if (status == PACE_OK) {
        status = make_wishes(&list, traces, trace_count, reported, mark);
        if (status == PACE_OK) status = plan(zones, &list, traces, trace_count, limits);
    }
    PACE_VEC_FREE(&list);
    if (status != PACE_OK) pace_zones_free(zones, trace_count);
    else *out = zones;
    return status;
}
