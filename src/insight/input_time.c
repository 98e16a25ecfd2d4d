#include "insight/input_time.h"

#include "base/order.h"

/* Every thread may wait for every other's input: beyond these a trace is refused rather than read for hours. */
enum { MOST_FETCHERS = 4096, MOST_HANDED = 1 << 24 };

void pace_input_times_free(pace_input_times *times) {
    for (size_t i = 0; times->by_lane && i < times->lanes; i++) PACE_VEC_FREE(&times->by_lane[i]);
    pace_free(times->by_lane);
}

static pace_status add_own(pace_intervals *out, const pace_step *step, const pace_lane *lane) {
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
        if (pace_task_fetches_input(step, task))
            PACE_TRY(pace_intervals_add(out, step->start_ns[task], pace_step_end_ns(step, task)));
    return PACE_OK;
}

static bool is_busy_task(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_CALL || pace_task_is_operator(step, task) ||
           pace_task_fetches_input(step, task);
}

/* Whether a thread does something at an instant. */
static bool busy_at(const pace_step *step, const pace_lane *lane, int64_t at_ns) {
    uint32_t task = pace_lane_begun_by(step, lane, at_ns - 1);
    while (task != PACE_NO_TASK && (pace_step_end_ns(step, task) <= at_ns || !is_busy_task(step, task)))
        task = pace_task_parent(step, task);
    return task != PACE_NO_TASK;
}

/* What a thread that pauses in [from, to) waits for on another: input that ends in the pause. */
static pace_status add_handed(pace_intervals *raw, const pace_intervals *input, size_t *next, int64_t from,
                              int64_t to) {
    while (*next < input->count && input->items[*next].end_ns <= from) ++*next;
    for (; *next < input->count && input->items[*next].end_ns <= to; ++*next) {
        pace_interval one = input->items[*next];
        if (one.start_ns < from) one.start_ns = from;
        PACE_TRY(PACE_PUSH(raw, one));
    }
    return PACE_OK;
}

static pace_status add_from(pace_intervals *raw, const pace_step *step, const pace_lane *lane, const pace_lane *other,
                            const pace_intervals *input) {
    int64_t busy_until = INT64_MIN;
    size_t next = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count && next < input->count; task++) {
        if (!is_busy_task(step, task)) continue;
        if (step->start_ns[task] > busy_until && !busy_at(step, other, step->start_ns[task]))
            PACE_TRY(add_handed(raw, input, &next, busy_until, step->start_ns[task]));
        if (pace_step_end_ns(step, task) > busy_until) busy_until = pace_step_end_ns(step, task);
    }
    return PACE_OK;
}

PACE_ORDER(by_start, pace_interval, PACE_UP(start_ns))

/* Its own input and what others handed to it, as one union. */
static pace_status join(pace_intervals *out, const pace_intervals *own, pace_intervals *raw) {
    for (size_t i = 0; i < own->count; i++) PACE_TRY(PACE_PUSH(raw, own->items[i]));
    PACE_SORT(raw, by_start);
    for (size_t i = 0; i < raw->count; i++)
        PACE_TRY(pace_intervals_add(out, raw->items[i].start_ns, raw->items[i].end_ns));
    return PACE_OK;
}

/* The host threads that fetch input themselves. */
typedef struct {
    const pace_intervals *own; /* of each lane */
    uint32_t *lanes;
    size_t count;
    size_t handed; /* intervals that threads were handed so far */
} fetchers;

static pace_status find_lane(pace_intervals *out, const pace_step *step, fetchers *f, size_t number) {
    pace_intervals raw = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < f->count; i++) {
        uint32_t other = f->lanes[i];
        if (other != number)
            status = add_from(&raw, step, &step->lanes.items[number], &step->lanes.items[other], &f->own[other]);
    }
    f->handed += raw.count;
    if (status == PACE_OK) status = join(out, &f->own[number], &raw);
    PACE_VEC_FREE(&raw);
    return status;
}

static pace_status check_bounds(const fetchers *f) {
    if (f->count > MOST_FETCHERS)
        return pace_fail(PACE_E_LIMIT, "expected at most %d threads that fetch input in one trace, found %zu",
                         MOST_FETCHERS, f->count);
    if (f->handed > MOST_HANDED)
        return pace_fail(PACE_E_LIMIT, "expected threads to wait at most %d times for the input of others, found more",
                         MOST_HANDED);
    return PACE_OK;
}

static pace_status find_all(pace_input_times *out, const pace_step *step, pace_input_times *own, fetchers *f) {
    for (uint32_t i = 0; i < own->lanes; i++) {
        if (step->lanes.items[i].device) continue;
        PACE_TRY(add_own(&own->by_lane[i], step, &step->lanes.items[i]));
        if (own->by_lane[i].count) f->lanes[f->count++] = i;
    }
    PACE_TRY(check_bounds(f));
    for (size_t i = 0; i < own->lanes; i++)
        if (!step->lanes.items[i].device) {
            PACE_TRY(find_lane(&out->by_lane[i], step, f, i));
            PACE_TRY(check_bounds(f));
        }
    return PACE_OK;
}

pace_status pace_input_times_find(pace_input_times *out, const pace_step *step) {
    size_t lanes = step->lanes.count;
    pace_input_times times = {pace_alloc(lanes, sizeof *times.by_lane), lanes};
    pace_input_times own = {pace_alloc(lanes, sizeof *own.by_lane), lanes};
    fetchers f = {.own = own.by_lane, .lanes = pace_alloc(lanes, sizeof *f.lanes)};
    pace_status status = times.by_lane && own.by_lane && f.lanes ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = find_all(&times, step, &own, &f);
    pace_free(f.lanes);
    pace_input_times_free(&own);
    return PACE_GIVE(out, times, status, pace_input_times_free(&times));
}
