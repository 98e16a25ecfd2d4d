#include "insight/compare/step_change.h"

#include "base/autocorrelation.h"

#include <math.h>

const char *const pace_change_verdict_names[] = {"nothing to compare", "spread not known", "too few",
                                                 "within the spread", "significant"};

static int64_t waits_within(const pace_rank *rank, int64_t from_ns, int64_t to_ns) {
    pace_matrix matrix = pace_matrix_of(&rank->tiles, from_ns, to_ns);
    return pace_matrix_columns(&matrix, PACE_IDLE_RANK, PACE_IDLE_RANK);
}

/* Work is compared in usual steps alone, as their lengths are: one step of a warm-up may hold more than all others. */
static pace_status take_work(pace_step_side *side, const pace_spread *spread, bool all) {
    for (size_t i = 0; i < spread->notes.count; i++) {
        const pace_mark *mark = &side->rank->marks.items.items[i];
        if (mark->to_ns <= mark->from_ns || (!all && spread->notes.items[i].verdict != PACE_STEP_USUAL)) continue;
        side->steps++;
        PACE_TRY(pace_intervals_add(&side->usual, mark->from_ns, mark->to_ns));
    }
    return PACE_OK;
}

static pace_status take_steps(pace_step_side *side, const pace_spread *spread, bool own) {
    const pace_rank *rank = side->rank;
    bool any = false;
    for (size_t i = 0; i < spread->notes.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        if (mark->to_ns <= mark->from_ns) continue;
        if (!any) side->from_ns = mark->from_ns;
        any = true;
        side->to_ns = mark->to_ns;
        if (spread->notes.items[i].verdict == PACE_STEP_USUAL)
            PACE_TRY(PACE_PUSH(&side->lengths_ns, mark->to_ns - mark->from_ns -
                                                      (own ? waits_within(rank, mark->from_ns, mark->to_ns) : 0)));
    }
    PACE_TRY(take_work(side, spread, false));
    if (any && side->steps == 0) PACE_TRY(take_work(side, spread, true));
    side->broken = side->steps == 0 && pace_rank_trace(rank)->step.cut_ns != INT64_MAX;
    if (side->steps == 0 && side->to_ns > side->from_ns)
        PACE_TRY(PACE_PUSH(&side->lengths_ns,
                           side->to_ns - side->from_ns - (own ? waits_within(rank, side->from_ns, side->to_ns) : 0)));
    return PACE_OK;
}

static pace_status find_side(pace_step_side *side, const pace_rank *rank, bool own) {
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    *side = (pace_step_side){.rank = rank,
                             .from_ns = rank->work.window.first_ns,
                             .to_ns = rank->work.window.last_ns,
                             .spread = spread.spread};
    pace_status status = pace_typical_step_find(&side->typical, rank, &spread);
    if (status == PACE_OK && own)
        side->waits_ns = pace_matrix_columns(&side->typical.matrix, PACE_IDLE_RANK, PACE_IDLE_RANK);
    if (status == PACE_OK) status = take_steps(side, &spread, own);
    if (status == PACE_OK) status = pace_step_shift_find(&side->shift, rank, &spread);
    pace_spread_free(&spread);
    return status;
}

pace_change_verdict pace_change_judge(size_t a, size_t b, const pace_rank_test *test) {
    if (a == 0 || b == 0) return PACE_CHANGE_NONE;
    if (a == 1 && b == 1) return PACE_CHANGE_UNKNOWN;
    if (test->least_p > PACE_CHANGE_LEVEL) return PACE_CHANGE_TOO_FEW;
    return test->p <= PACE_CHANGE_LEVEL ? PACE_CHANGE_REAL : PACE_CHANGE_CHANCE;
}

static pace_status correlate(pace_step_change *change) {
    size_t a = change->a.lengths_ns.count, b = change->b.lengths_ns.count;
    double *values = pace_alloc(a + b, sizeof *values);
    if (!values) return PACE_E_MEMORY;
    for (size_t i = 0; i < a; i++) values[i] = (double)change->a.lengths_ns.items[i];
    for (size_t i = 0; i < b; i++) values[a + i] = (double)change->b.lengths_ns.items[i];
    pace_status status = pace_autocorrelation_of(&change->correlation, values, a, values + a, b);
    pace_free(values);
    return status;
}

static pace_status compare(pace_step_change *change) {
    pace_rank_test test;
    const pace_step_side *a = &change->a, *b = &change->b;
    PACE_TRY(correlate(change));
    PACE_TRY(pace_rank_test_of(&test, a->lengths_ns.items, a->lengths_ns.count, b->lengths_ns.items,
                               b->lengths_ns.count, change->correlation));
    int64_t a_ns = pace_compared_ns(a), b_ns = pace_compared_ns(b);
    change->ratio = a_ns > 0 && b_ns > 0 ? (double)b_ns / (double)a_ns : NAN;
    change->low = test.low;
    change->high = test.high;
    change->p = test.p;
    change->verdict = pace_change_judge(a->lengths_ns.count, b->lengths_ns.count, &test);
    return PACE_OK;
}

pace_status pace_step_change_find(pace_step_change *out, const pace_rank *a, const pace_rank *b, bool one_run) {
    pace_step_change change = {.own = one_run, .ratio = NAN, .low = NAN, .high = NAN, .p = 1};
    pace_status status = find_side(&change.a, a, one_run);
    if (status == PACE_OK) status = find_side(&change.b, b, one_run);
    if (status == PACE_OK && !change.a.broken && !change.b.broken) status = compare(&change);
    return PACE_GIVE(out, change, status, pace_step_change_free(&change));
}

void pace_step_change_free(pace_step_change *change) {
    PACE_VEC_FREE(&change->a.lengths_ns, &change->b.lengths_ns, &change->a.usual, &change->b.usual);
}

double pace_per_step(const pace_step_side *side, int64_t time_ns) {
    return (double)time_ns / (side->steps ? (double)side->steps : 1);
}
