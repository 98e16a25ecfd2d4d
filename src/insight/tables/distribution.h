/* What many durations have in common. */
#pragma once

#include "base/memory.h"

typedef struct {
    size_t count;
    int64_t sum_ns, least_ns, most_ns;
    double median_ns, p90_ns; /* between two values by linear interpolation, as numpy's percentile() */
    double std_ns;            /* of the sample (n - 1), as pandas' std(); NAN of fewer than two */
} pace_distribution;

/** Of `count` durations, which it sorts; `scratch` has as much room. All 0 (median, p90 and std NAN) of none. */
pace_distribution pace_distribution_of(int64_t *durations, int64_t *scratch, size_t count);
