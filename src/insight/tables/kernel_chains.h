/*
 * Kernels that follow each other on a stream and only move data past simple arithmetic (element-wise work,
 * normalizations, softmax, layout changes): a compiler that fuses them saves their launches, the gaps between them, and
 * the trips of intermediate tensors to memory. A chain is as long as no other work comes between, of sixteen at most;
 * chains of the same names are one row.
 */
#pragma once

#include "insight/tables/operators.h"

typedef struct {
    size_t first, kernels; /* its names: kernels of them in `names` from first on */
    size_t times;
    int64_t time_ns, gap_ns; /* of the kernels, and between them, all times together */
} pace_kernel_chain;

typedef struct {
    PACE_VEC(pace_name) names; /* of the rank's step */
    PACE_VEC(uint32_t) tasks;  /* beside the names: the kernels of one such chain, with recorded launches if any has */
    PACE_VEC(pace_kernel_chain) rows; /* most time and gaps first; those that occur twice or more */
    int64_t time_ns, gap_ns;          /* of all chains, also those that occur once */
    size_t kernels;
} pace_kernel_chains;

pace_status pace_kernel_chains_find(pace_kernel_chains *out, const pace_rank *rank, const pace_kernel_classes *classes,
                                    const pace_work_choice *choice) PACE_MUST_CHECK;
void pace_kernel_chains_free(pace_kernel_chains *chains);
