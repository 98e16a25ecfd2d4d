/* Tukey's fence: samples outside [Q1 - 1.5 IQR, Q3 + 1.5 IQR] are outliers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** What lies inside is sorted[low] to sorted[high - 1]; count of at least 1. */
void pace_fence(size_t *low, size_t *high, const int64_t *sorted, size_t count);

/** Linear between the neighbours, as numpy.percentile does by default. */
double pace_quantile_ns(const int64_t *sorted, size_t count, double q);
