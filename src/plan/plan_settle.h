/*
 * How sure a choice among configurations is, and what timing some of them would gain. Their times are independent, and
 * ln of each is normal about ln of its median, all with one spread (catalog/steps.yaml, plan_spread).
 */
#pragma once

#include <stddef.h>

/** The chance that one configuration is faster than another. */
double pace_plan_chance(double median_s, double other_s, double spread);

/** The chance of each of `count` configurations that it is the fastest of all; the chances add up to 1. */
void pace_plan_fastest_chances(double *out, const double *median_s, size_t count, double spread);

/** The expected time of a step once the first `timed` configurations have been timed: the fastest of these runs, or one
 * of the others if its mean is less than that. `timed` 0: the mean of the one with the least median. */
double pace_plan_expected_s(const double *median_s, size_t count, size_t timed, double spread);
