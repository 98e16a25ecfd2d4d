/* What two sides spend on each name, per step, side by side. */
#pragma once

#include "insight/tables/operators.h"
#include "insight/compare/step_change.h"

typedef struct {
    const char *name;               /* "" = no operator was recorded; borrowed from a step */
    const pace_operator_row *a, *b; /* of all steps; NULL: that side has none of the name */
    double a_ns, b_ns;              /* per step; 0 where there is none */
} pace_operator_pair;

typedef struct {
    pace_operator_pair *items; /* the largest change per step first */
    size_t count;
    pace_operator_rows a, b;
} pace_operator_pairs;

/* A cell of the typical steps' matrices. */
typedef struct {
    pace_stage stage;
    pace_resource resource;
} pace_operator_cell;

/** By operator, kernel or module: a step's share of all steps. Of a cell (else NULL): what fills it in each side's
 * typical step. */
pace_status pace_operator_pairs_of(pace_operator_pairs *out, const pace_step_change *change, pace_grouping grouping,
                                   const pace_operator_cell *cell) PACE_MUST_CHECK;
void pace_operator_pairs_free(pace_operator_pairs *pairs);
