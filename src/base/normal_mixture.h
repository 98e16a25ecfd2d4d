/* A mixture of normal distributions: its middle, and how far from it 90 % lies. */
#pragma once

#include <stddef.h>

typedef struct {
    double weight, mean, deviation; /* weights add up to 1; deviations are above 0 */
} pace_normal_part;

/** The median. */
double pace_mixture_median(const pace_normal_part *parts, size_t count);

/** The distance from `middle` within which 90 % lies, over PACE_NORMAL_90: of one part around its mean its
 * deviation. */
double pace_mixture_spread(const pace_normal_part *parts, size_t count, double middle);
