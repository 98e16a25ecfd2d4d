/*
 * Local ordinary kriging: the value at a place as the best unbiased weighting of its nearest measurements, with a
 * covariance that falls off exponentially (Cressie 1993, section 3.2).
 */
#pragma once

#include "cost/nearest.h"

typedef struct {
    double value;
    double variance; /* relative to the field's own: 0 = as known as a measurement, 1 and more = as good as unknown */
} pace_krige;

/** From at most `most` neighbours under `scale` (see pace_nearest_find()). Covariance exp(-distance / reach), plus
 * `nugget` on the diagonal: the noise of a measurement. False when there is no neighbour. */
bool pace_krige_at(pace_krige *out, const pace_nearest *tree, const float *values, const float *at, const double *scale,
                   uint32_t but, unsigned most, double reach, double nugget);
