#include "insight/compare/operator_pairs.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

PACE_ORDER(by_name, pace_operator_pair, PACE_TEXT(name))

#define CHANGE(pair) fabs((pair)->b_ns - (pair)->a_ns)
PACE_ORDER(by_change, pace_operator_pair, PACE_DOWN_OF(CHANGE) PACE_THEN(by_name))

static size_t list(pace_operator_pair *pairs, const pace_step_side *side, const pace_operator_rows *rows, bool is_a,
                   bool of_typical) {
    for (size_t i = 0; i < rows->count; i++) {
        const pace_operator_row *row = &rows->items[i];
        double per_step = of_typical ? (double)row->time_ns : pace_per_step(side, row->time_ns);
        pairs[i] = (pace_operator_pair){.name = pace_names_text(&side->rank->step.names, row->name)};
        if (is_a) pairs[i].a = row, pairs[i].a_ns = per_step;
        else pairs[i].b = row, pairs[i].b_ns = per_step;
    }
    return rows->count;
}

/* Both sides by name; a name only one side has stands alone. */
static size_t match(pace_operator_pair *pairs, size_t count) {
    size_t kept = 0;
    if (count) qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && strcmp(pairs[kept - 1].name, pairs[i].name) == 0) {
            if (pairs[i].a) pairs[kept - 1].a = pairs[i].a, pairs[kept - 1].a_ns = pairs[i].a_ns;
            if (pairs[i].b) pairs[kept - 1].b = pairs[i].b, pairs[kept - 1].b_ns = pairs[i].b_ns;
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    if (kept) qsort(pairs, kept, sizeof *pairs, by_change);
    return kept;
}

static pace_status sum(pace_operator_rows *out, const pace_step_side *side, pace_grouping grouping,
                       const pace_operator_cell *cell) {
    if (!cell)
        return pace_operators_sum_chosen(out, side->rank, grouping,
                                         &(pace_work_choice){.start_ns = INT64_MIN,
                                                             .end_ns = INT64_MAX,
                                                             .stage = PACE_STAGE_NONE,
                                                             .within = pace_compared_steps(side)});
    return pace_operators_sum_chosen(out, side->rank, grouping,
                                     &(pace_work_choice){.start_ns = side->typical.from_ns,
                                                         .end_ns = side->typical.to_ns,
                                                         .stage = (uint8_t)cell->stage,
                                                         .of_resource = true,
                                                         .resource = (uint8_t)cell->resource});
}

pace_status pace_operator_pairs_of(pace_operator_pairs *out, const pace_step_change *change, pace_grouping grouping,
                                   const pace_operator_cell *cell) {
    pace_operator_pairs pairs = {0};
    pace_status status = sum(&pairs.a, &change->a, grouping, cell);
    if (status == PACE_OK) status = sum(&pairs.b, &change->b, grouping, cell);
    if (status == PACE_OK && !(pairs.items = pace_alloc(pairs.a.count + pairs.b.count, sizeof *pairs.items)))
        status = PACE_E_MEMORY;
    if (status == PACE_OK) {
        size_t count = list(pairs.items, &change->a, &pairs.a, true, cell);
        count += list(pairs.items + count, &change->b, &pairs.b, false, cell);
        pairs.count = match(pairs.items, count);
        *out = pairs;
    } else pace_operator_pairs_free(&pairs);
    return status;
}

void pace_operator_pairs_free(pace_operator_pairs *pairs) {
    pace_free(pairs->items);
    PACE_VEC_FREE(&pairs->a, &pairs->b);
}
