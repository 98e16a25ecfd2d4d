/* The standard normal distribution. */
#pragma once

#include <math.h>

/** How likely a value is above `z`. */
static inline double pace_normal_above(double z) { return 0.5 * erfc(z / sqrt(2)); }

/** What a share `tail` of all values, half at most, is above: by bisection, to the last bit. */
double pace_normal_reach(double tail);
