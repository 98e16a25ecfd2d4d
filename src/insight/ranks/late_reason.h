/* Why the rank that makes the others wait is late: what it does otherwise than the median of the others. */
#pragma once

#include "insight/analysis.h"

/* Of a mean usual step. */
typedef struct {
    bool known;
    pace_stage stage; /* of the cell of the matrix that exceeds the others' median most; waiting and exchanges apart */
    pace_resource resource;
    int64_t excess_ns;
    const char *kernel;                  /* with the largest excess; NULL = the cell is no work of kernels */
    int64_t kernel_ns, others_kernel_ns; /* a step */
    double kernel_calls, others_calls;   /* a step */
} pace_late_reason;

/** Nothing is known where no rank is late. */
pace_status pace_late_reason_find(pace_late_reason *out, const pace_analysis *analysis) PACE_MUST_CHECK;
