#include "insight/critical.h"

#include "insight/segments.h"

#include <stdlib.h>
#include <string.h>

const char *const pace_advice_names[PACE_ADVICES] = {"compute", "memory", "copy",    "network",
                                                     "host",    "input",  "balance", "gap"};

void pace_critical_free(pace_critical *critical) { PACE_VEC_FREE(&critical->pieces); }

/* --- which step ------------------------------------------------------------------------------------------------ */

typedef struct {
    int64_t length_ns;
    size_t mark;
} candidate;

static int by_length(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->length_ns != b->length_ns) return a->length_ns < b->length_ns ? -1 : 1;
    return (a->mark > b->mark) - (a->mark < b->mark);
}

static pace_status choose_step(pace_critical *out, const pace_rank *rank) {
    const pace_marks *marks = &rank->marks;
    candidate *steps = pace_alloc(marks->items.count, sizeof *steps);
    if (!steps) return PACE_E_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < marks->items.count; i++) {
        int64_t length = marks->items.items[i].to_ns - marks->items.items[i].from_ns;
        if (length > 0) steps[count++] = (candidate){length, i};
    }
    if (count) qsort(steps, count, sizeof *steps, by_length);
    out->mark = count ? steps[count / 2].mark : SIZE_MAX;
    out->from_ns = count ? marks->items.items[out->mark].from_ns : rank->work.window.first_ns;
    out->to_ns = count ? marks->items.items[out->mark].to_ns : rank->work.window.last_ns;
    pace_free(steps);
    return PACE_OK;
}

/* --- the path --------------------------------------------------------------------------------------------------- */

static uint32_t segment_ending_at(const pace_replay *replay, int64_t to_ns) {
    uint32_t best = PACE_NO_SEGMENT;
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < replay->segments.count; i++) {
        const pace_segment *s = &replay->segments.items[i];
        int64_t end = s->start_ns + s->duration_ns;
        if (end <= to_ns && end > latest) {
            latest = end;
            best = i;
        }
    }
    return best;
}

static pace_status add_piece(pace_critical *out, int64_t start, int64_t end, uint8_t resource, uint32_t task,
                             bool waiting) {
    if (start < out->from_ns) start = out->from_ns;
    if (end <= start) return PACE_OK;
    out->by_resource_ns[resource] += end - start;
    if (resource == PACE_ADVICE_GAP) out->unexplained_ns += end - start;
    return PACE_PUSH(&out->pieces, ((pace_path_piece){start, end, resource, task, waiting}));
}

static void reverse(pace_critical *out) {
    for (size_t i = 0, j = out->pieces.count; i + 1 < j; i++) {
        pace_path_piece piece = out->pieces.items[i];
        out->pieces.items[i] = out->pieces.items[--j];
        out->pieces.items[j] = piece;
    }
}

static pace_status walk_back(pace_critical *out, const pace_replay *replay, const uint8_t *bound) {
    int64_t at = out->to_ns;
    uint32_t segment = segment_ending_at(replay, out->to_ns);
    bool whole = true; /* false: only the part before the segment's start counts (a launch left it there) */
    while (at > out->from_ns && segment != PACE_NO_SEGMENT) {
        const pace_segment *s = &replay->segments.items[segment];
        if (whole) {
            int64_t end = s->start_ns + s->duration_ns;
            if (at > end) PACE_TRY(add_piece(out, end, at, PACE_ADVICE_GAP, s->task, true));
            PACE_TRY(add_piece(out, s->start_ns, at < end ? at : end, s->resource, s->task, false));
        }
        at = s->start_ns < at ? s->start_ns : at;
        int64_t ready = s->start_ns - s->delay_ns;
        PACE_TRY(add_piece(out, ready, at, s->delay_resource, s->task, true));
        if (ready < at) at = ready;
        uint8_t why = bound[segment];
        if (why == PACE_BOUND_BY_ORIGIN) break;
        if (why == PACE_BOUND_BY_LANE) {
            segment--;
            whole = true;
            continue;
        }
        int d = why - PACE_BOUND_BY_DEPENDENCY;
        const pace_segment *on = &replay->segments.items[s->dependency[d]];
        int64_t from = on->start_ns + (s->from_start[d] ? 0 : on->duration_ns);
        PACE_TRY(add_piece(out, from, at, s->lag_resource, s->task, true));
        if (from < at) at = from;
        whole = !s->from_start[d];
        segment = s->dependency[d];
    }
    PACE_TRY(add_piece(out, out->from_ns, at, PACE_ADVICE_GAP, PACE_NO_TASK, true));
    reverse(out);
    return PACE_OK;
}

/* --- what-ifs --------------------------------------------------------------------------------------------------- */

static int64_t end_at(const pace_replay *replay, const double *factor, const int64_t *start, uint32_t segment,
                      int64_t otherwise) {
    if (segment == PACE_NO_SEGMENT) return otherwise;
    const pace_segment *s = &replay->segments.items[segment];
    return start[segment] + (int64_t)((double)s->duration_ns * factor[s->resource] + 0.5);
}

static pace_status replay_without(pace_critical *out, const pace_replay *replay, int64_t *start) {
    uint32_t last = segment_ending_at(replay, out->to_ns), first = segment_ending_at(replay, out->from_ns);
    if (first != PACE_NO_SEGMENT) {
        const pace_segment *s = &replay->segments.items[first];
        if (s->start_ns + s->duration_ns != out->from_ns)
            first = PACE_NO_SEGMENT; /* the step begins at an annotation */
    }
    for (int r = 0; r < PACE_ADVICES; r++) {
        double factor[PACE_REPLAY_RESOURCES];
        for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) factor[i] = i == r ? 0 : 1;
        PACE_TRY(pace_replay_run(replay, factor, start, NULL));
        int64_t took =
            end_at(replay, factor, start, last, out->to_ns) - end_at(replay, factor, start, first, out->from_ns);
        int64_t step = out->to_ns - out->from_ns;
        out->without_ns[r] = took < 0 ? 0 : took > step ? step : took;
    }
    return PACE_OK;
}

static void count_handovers(pace_critical *out, const pace_replay *replay, const uint8_t *bound) {
    for (uint32_t i = 0; i < replay->segments.count; i++) {
        const pace_segment *s = &replay->segments.items[i];
        int d = bound[i] - PACE_BOUND_BY_DEPENDENCY;
        if (d < 0 || s->from_start[d]) continue;
        out->handovers++;
        out->recorded_handovers += s->recorded[d];
    }
}

static pace_status analyse(pace_critical *out, const pace_replay *replay) {
    size_t count = replay->segments.count;
    int64_t *start = pace_alloc(count, sizeof *start);
    uint8_t *bound = pace_alloc(count, 1);
    pace_status status = start && bound ? PACE_OK : PACE_E_MEMORY;
    double unit[PACE_REPLAY_RESOURCES];
    for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    if (status == PACE_OK) status = pace_replay_run(replay, unit, start, bound);
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        int64_t error = llabs(start[i] - replay->segments.items[i].start_ns);
        if (error > out->worst_error_ns) out->worst_error_ns = error;
    }
    if (status == PACE_OK) count_handovers(out, replay, bound);
    if (status == PACE_OK) status = walk_back(out, replay, bound);
    if (status == PACE_OK) status = replay_without(out, replay, start);
    pace_free(start);
    pace_free(bound);
    return status;
}

pace_status pace_critical_find(pace_critical *out, const pace_rank *rank) {
    pace_critical critical = {.mark = SIZE_MAX};
    if (rank->work.items.count == 0) {
        *out = critical;
        return PACE_OK;
    }
    PACE_TRY(choose_step(&critical, rank));
    int64_t origin = critical.from_ns;
    if (critical.mark != SIZE_MAX && rank->marks.items.items[critical.mark].start_ns < origin)
        origin = rank->marks.items.items[critical.mark].start_ns;
    pace_replay replay = {0};
    pace_status status = pace_segments_build(&replay, rank, origin, critical.to_ns);
    if (status == PACE_OK) status = analyse(&critical, &replay);
    pace_replay_free(&replay);
    if (status != PACE_OK) pace_critical_free(&critical);
    else *out = critical;
    return status;
}
