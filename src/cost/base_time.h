/*
 * What measurements are held against: the formula of the ladder, and a fixed time that every row of a class contains,
 * such as the host's part of calls that were timed. What this leaves over is learned locally (learn.h).
 */
#pragma once

#include "cost/sample.h"

typedef struct {
    double fixed_s;
    double off; /* ln of what rows take over formula and fixed time, in the mean */
} pace_base_time;

double pace_base_time_s(const pace_base_time *base, const pace_sample *sample);

/** The fixed time that leaves the most even ln(time / base), and what is left in the mean, over the samples picked:
 * samples[picked[i]] took times[picked[i]] seconds. */
pace_base_time pace_base_time_fit(const pace_sample *samples, const double *times, const uint32_t *picked,
                                  size_t count);
