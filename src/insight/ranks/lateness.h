/* Who is late to collectives, and who waits. */
#pragma once

#include "insight/analysis.h"

typedef struct {
    uint32_t index; /* of the rank */
    uint32_t device;
    int64_t rank;       /* INT64_MIN = not known */
    int64_t times_last; /* collectives it was the last to reach, by more than the clocks' accuracy */
    int64_t late_ns;    /* after the median member, summed over collectives */
    int64_t waiting_ns, compute_ns;
    double compute_over_mean; /* against the mean of the ranks: 0.1 = 10 % more */
} pace_lateness;

/** One row a rank, to be freed with pace_free(): by rank; more than 16 ranks the latest first. */
pace_status pace_lateness_of(pace_lateness **out, const pace_analysis *analysis) PACE_MUST_CHECK;
