/* Two samples against each other, whatever their distributions: the rank-sum test of Mann and Whitney (1947), and the
 * interval of the ratio that it implies (Moses 1965). */
#pragma once

#include "base/memory.h"

#define PACE_CHANGE_LEVEL 0.05 /* a p below it counts as a change: chance in one case of twenty */

typedef struct {
    double p;       /* two-sided: how likely samples of one distribution differ as much or more */
    double least_p; /* the smallest that independent samples of these sizes can give: above a level, they cannot tell */
    double low, high; /* 90 % interval of the ratio of a value of b to one of a; NAN where the samples are too small */
} pace_rank_test;

/** `a` and `b` are positive. Exact for up to 20 values each, or a few against more, that are all different, else
 * by the normal approximation with its correction for ties. `correlation` is that of neighbours in the samples
 * (autocorrelation.h), 0 of independent values. */
pace_status pace_rank_test_of(pace_rank_test *out, const int64_t *a, size_t a_count, const int64_t *b, size_t b_count,
                              double correlation) PACE_MUST_CHECK;

/** How many values must come before so many for the test to tell any difference: the most extreme of all arrangements,
 * on either side, is a chance of 2 in as many as there are. */
size_t pace_rank_test_enough(size_t last);
