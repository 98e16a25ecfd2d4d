/* Where the level of a series changes: the split whose two parts' ranks differ most (the statistic of Pettitt 1979,
 * divided by its standard deviation), held against the same of the series shuffled: in blocks, where values resemble
 * those before them within both parts. */
#pragma once

#include "base/memory.h"

typedef struct {
    size_t at;            /* the first value of the second part; 0 = too few values, or all alike */
    double p;             /* how often a shuffled series has a split that stands out as much or more */
    double before, after; /* medians of the parts */
} pace_change_point;

enum { PACE_CHANGE_POINT_LEAST = 6 }; /* of fewer values no split could be told from chance */

/** Each part has two values at least. The same values give the same answer: the shuffles are seeded. */
pace_status pace_change_point_find(pace_change_point *out, const double *values, size_t count) PACE_MUST_CHECK;
