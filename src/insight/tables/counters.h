/*
 * Hardware counters by kernel (CUPTI's range profiler). Ranges carry no time of the device. Where a trace holds as many
 * launches of kernels as ranges, the k-th range is the k-th launch: that gives the operator.
 */
#pragma once

#include "insight/tables/operators.h"

/* Floating-point operations that counters of executed instructions name, by precision. */
typedef enum { PACE_COUNTED_HALF, PACE_COUNTED_SINGLE, PACE_COUNTED_DOUBLE, PACE_COUNTED_PRECISIONS } pace_counted;

typedef struct {
    pace_name range; /* a kernel's name, of the rank's step */
    pace_name op;    /* the operator that launched most of its ranges; 0 = unknown */
    size_t ranges;
    double flop[PACE_COUNTED_PRECISIONS]; /* of all ranges; NaN = not counted */
} pace_counted_kernel;

typedef struct {
    pace_name range, counter; /* names of the rank's step */
    uint32_t kernel;          /* place in `kernels` */
    size_t ranges;
    bool sum;     /* the counter adds up over ranges (".sum"), else `value` is the mean over them */
    double value; /* sum or mean */
    double least, most;
} pace_counter_row;

typedef struct {
    PACE_VEC(pace_counted_kernel) kernels; /* most flop first, then most ranges */
    PACE_VEC(pace_counter_row) rows;       /* by kernel, then by name of the counter */
    bool launches_match, counts_flop;
} pace_counters;

pace_status pace_counters_sum(pace_counters *out, const pace_rank *rank) PACE_MUST_CHECK;
void pace_counters_free(pace_counters *counters);
