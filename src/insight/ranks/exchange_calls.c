#include "insight/ranks/exchange_calls.h"

#include "base/order.h"
#include "base/text.h"
#include "insight/advice.h"

#include <stdlib.h>

/* A thread of the library takes up its work within so much of the operator's end; a longer pause is a delay. */
enum { PICK_UP_NS = 50000 };

typedef PACE_VEC(uint32_t) segment_list;

static bool asks(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_OP && pace_starts(pace_step_name(step, task), "c10d::");
}

static bool exchanges(const pace_step *step, const pace_segment *s) {
    return step->kind[s->task] == PACE_TASK_ANNOTATION &&
           (s->resource == PACE_ADVICE_NETWORK || s->resource == PACE_ADVICE_BALANCE);
}

static pace_status list(segment_list *calls, segment_list *ranges, const pace_replay *replay, const pace_step *step,
                        const uint32_t *first_segment) {
    for (uint32_t i = 0; i < replay->segments.count; i++) {
        const pace_segment *s = &replay->segments.items[i];
        if (first_segment[s->task] != i) continue;
        if (asks(step, s->task)) PACE_TRY(PACE_PUSH(calls, i));
        if (exchanges(step, s)) PACE_TRY(PACE_PUSH(ranges, i));
    }
    return PACE_OK;
}

typedef struct {
    int64_t start_ns;
    uint32_t segment;
} begin;

PACE_ORDER(by_start, begin, PACE_UP(start_ns) PACE_UP(segment))

static begin *order(const segment_list *segments, const pace_replay *replay) {
    begin *begins = pace_alloc(segments->count + 1, sizeof *begins);
    for (size_t i = 0; begins && i < segments->count; i++)
        begins[i] = (begin){replay->segments.items[segments->items[i]].start_ns, segments->items[i]};
    if (begins && segments->count) qsort(begins, segments->count, sizeof *begins, by_start);
    return begins;
}

static void depend(pace_replay *replay, const pace_step *step, uint32_t range, uint32_t call) {
    pace_segment *s = &replay->segments.items[range];
    const pace_segment *on = &replay->segments.items[call];
    int64_t lag = s->start_ns - on->start_ns, most = pace_task_ns(step, on->task) + PICK_UP_NS;
    if (pace_segment_lane(replay, call) != pace_segment_lane(replay, range))
        pace_segment_depend(replay, s, call, lag < most ? lag : most, true);
}

/* Calls wait in a stack, and the last that a range finds is its own: a library's threads begin in any order, but none
 * before it was asked. */
static void match(pace_replay *replay, const pace_step *step, const begin *calls, size_t call_count,
                  const begin *ranges, size_t range_count, uint32_t *waiting) {
    size_t next = 0, depth = 0;
    for (size_t i = 0; i < range_count; i++) {
        for (; next < call_count && calls[next].start_ns <= ranges[i].start_ns; next++)
            waiting[depth++] = calls[next].segment;
        if (depth) depend(replay, step, ranges[i].segment, waiting[--depth]);
    }
}

pace_status pace_segments_add_exchange_calls(pace_replay *replay, const pace_step *step,
                                             const uint32_t *first_segment) {
    segment_list calls = {0}, ranges = {0};
    begin *asked = NULL, *begun = NULL;
    uint32_t *waiting = NULL;
    pace_status status = list(&calls, &ranges, replay, step, first_segment);
    if (status == PACE_OK) {
        asked = order(&calls, replay);
        begun = order(&ranges, replay);
        waiting = pace_alloc(calls.count + 1, sizeof *waiting);
        if (asked && begun && waiting) match(replay, step, asked, calls.count, begun, ranges.count, waiting);
        else status = PACE_E_MEMORY;
    }
    PACE_FREE(asked, begun, waiting);
    PACE_VEC_FREE(&calls, &ranges);
    return status;
}
