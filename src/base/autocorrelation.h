/* Values in the order of time resemble those before them: steps by the device's clock, runs by the hour. So many say
 * less than as many independent ones. An autoregressive process of first order is assumed, of ranks, which outliers
 * hardly move. */
#pragma once

#include "base/memory.h"

/** Ranks less their mean; equal values share theirs. */
pace_status pace_rank_values(double *ranks, const double *values, size_t count) PACE_MUST_CHECK;

/** The correlation of neighbours within two samples of one process, 0 to below 1: without its bias in short samples
 * (Kendall 1954); 0 where fewer than 20 values tell nothing of it. */
pace_status pace_autocorrelation_of(double *out, const double *a, size_t a_count, const double *b,
                                    size_t b_count) PACE_MUST_CHECK;

/** How many values of a sample count as one independent value, 1 or more. */
double pace_values_as_one(size_t count, double correlation);

/** By how much the difference of two samples' means varies more than that of independent ones: a ratio of
 * variances, 1 or more. */
double pace_difference_inflation(size_t a_count, size_t b_count, double correlation);
