/*
 * A formula whose constants are fitted to measurements, for the trend of a family over sizes and devices: arithmetic
 * and traffic overlap more or less (a p-norm between sum and maximum), a fixed time and the chain of steps within a
 * tile go with the clock. What it leaves over is learned locally (learn.h).
 */
#pragma once

#include "cost/sample.h"

enum { PACE_BASE_CONSTANTS = 5 };

typedef struct {
    double constant[PACE_BASE_CONSTANTS]; /* logarithms: of compute, memory, fixed us, ns per step, p - 1 */
} pace_base_time;

double pace_base_time_s(const pace_base_time *base, const pace_sample *sample);

/** Least mean |ln(time / base)| over the samples picked: samples[picked[i]] took times[picked[i]] seconds. */
pace_base_time pace_base_time_fit(const pace_sample *samples, const double *times, const uint32_t *picked,
                                  size_t count);
