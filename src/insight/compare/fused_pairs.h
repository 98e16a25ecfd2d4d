/*
 * An eager step against a compiled one: which operators of the one became which kernels of the other. A kernel that the
 * compiler made is named after the operators it fused ("triton_poi_fused_add_relu_0"); operators that both sides run
 * match by their names. Operators and kernels that name each other, directly or through others, are one row.
 */
#pragma once

#include "base/texts.h"
#include "insight/compare/step_change.h"

typedef enum { PACE_FUSED_TOGETHER, PACE_FUSED_ONLY_A, PACE_FUSED_ONLY_B } pace_fused_kind;

extern const char *const pace_fused_kind_names[];

typedef struct {
    pace_fused_kind kind;
    char *operators, *kernels, *modules; /* lists, separated by ", "; modules are those of the operators; owned */
    double a_ns, b_ns;                   /* per step */
} pace_fused_row;

typedef struct {
    PACE_VEC(pace_fused_row) rows; /* the largest change first */
    bool compiled_is_b;
    bool found;                                    /* one side has fused kernels that the other has not */
    double by_name_ns, by_fusion_ns, unmatched_ns; /* of the eager side's device time, per step */
    double left_ns;                                /* of the compiled side's, what nothing of the eager side matches */
} pace_fused_pairs;

pace_status pace_fused_pairs_of(pace_fused_pairs *out, const pace_step_change *change) PACE_MUST_CHECK;
void pace_fused_pairs_free(pace_fused_pairs *pairs);
