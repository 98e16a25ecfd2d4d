#include "insight/operator_pairs.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right) {
    return strcmp(((const pace_operator_pair *)left)->name, ((const pace_operator_pair *)right)->name);
}

static int64_t change(const pace_operator_pair *p) { return (p->b ? p->b->time_ns : 0) - (p->a ? p->a->time_ns : 0); }

static int by_change(const void *left, const void *right) {
    int64_t a = llabs(change(left)), b = llabs(change(right));
    if (a != b) return a > b ? -1 : 1;
    return by_name(left, right);
}

/* Operators of both sides by name; a name only one side has stands alone. */
static size_t match(pace_operator_pair *pairs, const pace_rank *rank_a, const pace_operator_rows *a,
                    const pace_rank *rank_b, const pace_operator_rows *b) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < a->count; i++)
        pairs[count++] =
            (pace_operator_pair){pace_names_text(&rank_a->step.names, a->items[i].name), &a->items[i], NULL};
    for (size_t i = 0; i < b->count; i++)
        pairs[count++] =
            (pace_operator_pair){pace_names_text(&rank_b->step.names, b->items[i].name), NULL, &b->items[i]};
    qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && strcmp(pairs[kept - 1].name, pairs[i].name) == 0) {
            if (pairs[i].a) pairs[kept - 1].a = pairs[i].a;
            if (pairs[i].b) pairs[kept - 1].b = pairs[i].b;
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    qsort(pairs, kept, sizeof *pairs, by_change);
    return kept;
}

pace_status pace_operator_pairs_of(pace_operator_pairs *out, const pace_rank *a, const pace_rank *b) {
    pace_operator_pairs pairs = {0};
    pace_status status = pace_operators_sum(&pairs.a, a, PACE_BY_OPERATOR);
    if (status == PACE_OK) status = pace_operators_sum(&pairs.b, b, PACE_BY_OPERATOR);
    if (status == PACE_OK && !(pairs.items = pace_alloc(pairs.a.count + pairs.b.count, sizeof *pairs.items)))
        status = PACE_E_MEMORY;
    if (status == PACE_OK) pairs.count = match(pairs.items, a, &pairs.a, b, &pairs.b);
    if (status == PACE_OK) *out = pairs;
    else pace_operator_pairs_free(&pairs);
    return status;
}

void pace_operator_pairs_free(pace_operator_pairs *pairs) {
    pace_free(pairs->items);
    PACE_VEC_FREE(&pairs->a);
    PACE_VEC_FREE(&pairs->b);
}
