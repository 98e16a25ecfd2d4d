/* The median of few measurements, and how sure it is. */
#pragma once

#include "base/memory.h"

typedef struct {
    double median, low, high; /* the interval covers the true median in at least `level` of all cases, whatever the
                                 distribution, where there are enough values; else it is all of them */
} pace_median_interval;

/** Of `count` values, which it sorts; NANs of none. The interval's ends are order statistics (David and Nagaraja, Order
 * Statistics, section 7.1). */
pace_median_interval pace_median_interval_of(double *values, size_t count, double level);

/** The same of values in the order of time, which resemble those before them: the interval is as much wider as their
 * ranks' correlation says (autocorrelation.h), of which fewer than 20 values tell nothing. */
pace_status pace_series_median_of(pace_median_interval *out, double *values, size_t count,
                                  double level) PACE_MUST_CHECK;
