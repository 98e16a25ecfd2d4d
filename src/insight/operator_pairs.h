/* The operators of two ranks, side by side. */
#pragma once

#include "insight/operators.h"

typedef struct {
    const char *name;               /* "" = no operator was recorded; borrowed from a step */
    const pace_operator_row *a, *b; /* NULL: that side has none of the name */
} pace_operator_pair;

typedef struct {
    pace_operator_pair *items; /* the largest change of time first */
    size_t count;
    pace_operator_rows a, b;
} pace_operator_pairs;

pace_status pace_operator_pairs_of(pace_operator_pairs *out, const pace_rank *a, const pace_rank *b) PACE_MUST_CHECK;
void pace_operator_pairs_free(pace_operator_pairs *pairs);
