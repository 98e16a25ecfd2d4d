/* The same kernels on several ranks: who spends most time in each. */
#pragma once

#include "insight/analysis.h"
#include "insight/tables/operators.h"

typedef struct {
    pace_name name;                   /* of `names` */
    size_t ranks;                     /* that ran it at all */
    size_t least_calls, most_calls;   /* of those */
    int64_t least_ns, most_ns;        /* time of a rank, all its calls */
    size_t least_rank, most_rank;     /* indices into analysis->ranks; the first of equals */
    double median_ns, median_call_ns; /* over those ranks: of their times, of their median calls */
} pace_kernel_ranks_row;

typedef struct {
    pace_names names;
    PACE_VEC(pace_kernel_ranks_row)
    rows; /* by most_ns - median_ns, largest first: what one rank spends beyond the others */
} pace_kernel_ranks;

/** Of the chosen work; with `of_steps` each rank's own steps bound it instead of the choice's times. */
pace_status pace_kernel_ranks_find(pace_kernel_ranks *out, const pace_analysis *analysis,
                                   const pace_work_choice *choice, bool of_steps) PACE_MUST_CHECK;
void pace_kernel_ranks_free(pace_kernel_ranks *ranks);
