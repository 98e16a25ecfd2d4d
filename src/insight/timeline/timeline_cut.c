#include "insight/timeline/timeline_cut.h"

/* Zones are visited in order, for starts ascend. */
static const pace_zone *zone_at(const pace_zones *zones, size_t *zone, int64_t at_ns) {
    while (*zone + 1 < zones->count && zones->items[*zone].to_ns <= at_ns) ++*zone;
    return &zones->items[*zone];
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_step *step;
    pace_drawn_slices *out;
    pace_drawn run; /* count 0 = none is open */
    uint32_t parent;
} cutter;

static pace_status close_run(cutter *c) {
    pace_status status = c->run.count ? PACE_PUSH(c->out, c->run) : PACE_OK;
    c->run.count = 0;
    return status;
}

static void extend_run(cutter *c, uint32_t task) {
    int64_t end_ns = pace_step_end_ns(c->step, task);
    if (end_ns > c->run.end_ns) c->run.end_ns = end_ns;
    if (pace_task_ns(c->step, task) > pace_task_ns(c->step, c->run.longest)) c->run.longest = task;
    c->run.count = task + 1 - c->run.first;
}

/* Whether an enclosing task is in the open run: then this one belongs to it. */
static bool is_inside_run(const cutter *c, uint32_t task) {
    uint32_t parent = pace_task_parent(c->step, task);
    return c->run.count && parent != PACE_NO_TASK && parent >= c->run.first;
}

static bool joins_run(const cutter *c, uint32_t task, const pace_zone *zone) {
    return c->run.count && pace_task_parent(c->step, task) == c->parent &&
           pace_step_end_ns(c->step, task) - c->run.start_ns <= zone->run_ns;
}

static pace_status cut_task(cutter *c, uint32_t task, const pace_zone *zone) {
    const pace_step *step = c->step;
    if (is_inside_run(c, task)) {
        c->run.count = task + 1 - c->run.first;
        return PACE_OK;
    }
    bool thin = pace_task_ns(step, task) < zone->thin_ns;
    if (thin && joins_run(c, task, zone)) {
        extend_run(c, task);
    } else {
        PACE_TRY(close_run(c));
        c->run = (pace_drawn){step->start_ns[task], pace_step_end_ns(step, task), task, 1, task};
        c->parent = pace_task_parent(step, task);
        if (!thin) return close_run(c);
    }
    return PACE_OK;
}

pace_status pace_lane_cut(pace_drawn_slices *out, const pace_step *step, const pace_lane *lane,
                          const pace_zones *zones) {
    cutter c = {.step = step, .out = out};
    size_t zone = 0;
    out->count = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
        PACE_TRY(cut_task(&c, task, zone_at(zones, &zone, step->start_ns[task])));
    return close_run(&c);
}

/* --- spans -------------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_drawn_span drawn; /* count 0 = none is open */
    int64_t longest_ns;
    uint32_t key;
    bool thin; /* takes further short spans of any key */
} span_run;

static bool span_joins(const span_run *run, const pace_span *span, bool thin, int64_t run_ns) {
    if (run->drawn.count == 0) return false;
    if (thin || run->thin) return thin && run->thin && span->end_ns - run->drawn.start_ns <= run_ns;
    return span->key == run->key && span->start_ns == run->drawn.end_ns;
}

pace_status pace_spans_cut(pace_drawn_spans *out, pace_span_fn at, const void *context, size_t count,
                           const pace_zones *zones) {
    span_run run = {.thin = false};
    size_t zone = 0;
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const pace_span span = at(context, i);
        const pace_zone *in = zone_at(zones, &zone, span.start_ns);
        int64_t length_ns = span.end_ns - span.start_ns;
        bool thin = length_ns < in->thin_ns;
        if (!span_joins(&run, &span, thin, in->run_ns)) {
            if (run.drawn.count) PACE_TRY(PACE_PUSH(out, run.drawn));
            run = (span_run){{span.start_ns, span.end_ns, 0, i}, length_ns, span.key, thin};
        }
        if (length_ns > run.longest_ns) run.drawn.longest = i, run.longest_ns = length_ns;
        if (run.thin || run.drawn.count == 0) run.drawn.count++;
        run.drawn.end_ns = span.end_ns;
    }
    return run.drawn.count ? PACE_PUSH(out, run.drawn) : PACE_OK;
}
