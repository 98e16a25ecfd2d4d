/* Why one side's typical step takes longer than the other's: the cell of the matrix that changed most in the direction
 * of the whole, and what stands behind it. */
#pragma once

#include "insight/host_gaps.h"
#include "insight/compare/operator_pairs.h"

typedef struct {
    int64_t step_ns;  /* the change of what is compared of the step */
    pace_stage stage; /* of the cell */
    pace_resource resource;
    int64_t cell_ns;                  /* the change of the cell; 0 = nothing changed */
    const pace_operator_pair *op;     /* the operator whose work in the cell changed most that way; NULL = none did */
    const pace_operator_pair *kernel; /* the kernel; where the cell is communication, the exchange */
    /* what took the place of each: only one side has it, and only the other the operator or kernel; NULL = nothing
     * did */
    const pace_operator_pair *op_instead, *kernel_instead;
    const pace_host_gap
        *host; /* where the cell waits for the host or for input: what the host does; NULL = nothing changed */
    double a_launches, b_launches;          /* kernels and copies per step */
    pace_operator_pairs operators, kernels; /* of the cell */
} pace_change_cause;

/** `gaps` are of the same change; borrowed as long as *out, whose other pairs live as long as it. Unless `same_ranks`,
 * one side lacks ranks that the other has: waiting for a rank and exchange are one cell then. */
pace_status pace_change_cause_find(pace_change_cause *out, const pace_step_change *change, const pace_host_gaps *gaps,
                                   bool same_ranks) PACE_MUST_CHECK;
void pace_change_cause_free(pace_change_cause *cause);
