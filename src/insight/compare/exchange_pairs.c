#include "insight/compare/exchange_pairs.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

static pace_exchange_side side_of(const pace_step_side *side, const pace_exchange_total *row) {
    return (pace_exchange_side){.calls = pace_per_step(side, (int64_t)row->calls),
                                .time_ns = pace_per_step(side, row->time_ns),
                                .waiting_ns = row->waiting_ns >= 0 ? pace_per_step(side, row->waiting_ns) : NAN,
                                .busbw_per_s = row->busbw_per_s};
}

static pace_status add_side(pace_exchange_pairs *out, const pace_step_side *side, pace_catalog *catalog, bool is_a) {
    pace_exchange_totals totals;
    PACE_TRY(pace_exchange_totals_find(&totals, side->rank, 1, NULL, catalog, pace_compared_steps(side)));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < totals.items.count; i++) {
        const pace_exchange_total *row = &totals.items.items[i];
        const pace_exchange_side none = {.waiting_ns = NAN, .busbw_per_s = NAN};
        pace_exchange_pair pair = {row->collective, row->group, row->dtype, row->group_size, row->bytes, none, none};
        *(is_a ? &pair.a : &pair.b) = side_of(side, row);
        status = PACE_PUSH(out, pair);
    }
    pace_exchange_totals_free(&totals);
    return status;
}

PACE_ORDER(by_kind, pace_exchange_pair,
           PACE_TEXT(collective) PACE_TEXT(group) PACE_TEXT(dtype) PACE_UP(group_size) PACE_UP(bytes))

#define CHANGE(pair) fabs((pair)->b.time_ns - (pair)->a.time_ns)
PACE_ORDER(by_change, pace_exchange_pair, PACE_DOWN_OF(CHANGE) PACE_THEN(by_kind))

static void match(pace_exchange_pairs *pairs) {
    size_t kept = 0;
    PACE_SORT(pairs, by_kind);
    for (size_t i = 0; i < pairs->count; i++) {
        pace_exchange_pair *one = &pairs->items[i], *before = kept ? &pairs->items[kept - 1] : NULL;
        if (!before || by_kind(before, one) != 0) pairs->items[kept++] = *one;
        else if (one->a.calls > 0) before->a = one->a;
        else before->b = one->b;
    }
    pairs->count = kept;
    if (kept) qsort(pairs->items, kept, sizeof *pairs->items, by_change);
}

pace_status pace_exchange_pairs_of(pace_exchange_pairs *out, const pace_step_change *change, pace_catalog *catalog) {
    pace_exchange_pairs pairs = {0};
    pace_status status = add_side(&pairs, &change->a, catalog, true);
    if (status == PACE_OK) status = add_side(&pairs, &change->b, catalog, false);
    if (status == PACE_OK) {
        match(&pairs);
        *out = pairs;
    } else PACE_VEC_FREE(&pairs);
    return status;
}
