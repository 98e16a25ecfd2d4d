/*
 * Time of a collective by size as eight parameters (Lin et al., TPDS 2024; notes of ml_perf_model): a floor, a logistic
 * curve of the logarithm of the bus bandwidth in between, and the full bandwidth beyond.
 *
 *   t = floor                                        log2 bytes <= from
 *   t = moved / 10^(height / (1 + exp(-slope (log2 bytes - middle))) + base)
 *   t = moved / full + floor                         log2 bytes > to
 *
 * moved = bytes times the bus factor. It does not join smoothly at `from` and `to`.
 */
#pragma once

#include "exchange/calibration.h"

enum { PACE_SATURATING_LEAST = 10 };

typedef struct {
    double floor_s, from, to; /* from, to: log2 of bytes */
    double height, middle, slope, base;
    double full_bytes_per_s;
} pace_saturating_curve;

/** Fits points by ascending size; `factor` is pace_bus_factor(). False for fewer than PACE_SATURATING_LEAST points, or
 * a time or size that is not above 0. */
bool pace_saturating_fit(pace_saturating_curve *out, const pace_curve_point *points, size_t count, double factor);

double pace_saturating_s(const pace_saturating_curve *curve, double bytes, double factor);
