/* The standard normal distribution, and what takes its place where a deviation is known of few values. */
#pragma once

#include <math.h>

/** How likely a value is above `z`. */
static inline double pace_normal_above(double z) { return 0.5 * erfc(z / sqrt(2)); }

/** What a share `tail` of all values, half at most, is above: by bisection, to the last bit. */
double pace_normal_reach(double tail);

/** Student's t that is exceeded once in twenty times, by Fisher's expansion (Abramowitz and Stegun, 26.7.5). */
double pace_student_reach(double freedom);
