/*
 * Sums whose result does not depend on the order: 128-bit fixed point, in units of 2^-40 (about 1e-12). Each value is
 * rounded once, to the nearest unit; adding and merging are integer additions, so any split over threads or processes
 * gives the same bits. A sum holds up to 2^87 (1.5e26): a billion values of 2^57 (1.4e17) each.
 */
#ifndef PACE_FLEET_SUM_H
#define PACE_FLEET_SUM_H

#include "fleet/pack.h"

#include <math.h>

enum { PACE_SUM_FRACTION_BITS = 40 };

/* The largest magnitude of one value; larger ones (and infinities) count as this, NaN as zero. Readers refuse both. */
#define PACE_SUM_MOST 0x1p62

__extension__ typedef __int128 pace_int128;

typedef struct {
    pace_int128 units;
} pace_sum;

/** The value in units. Whole and fraction are converted apart, as both fit an int64. */
static inline pace_int128 pace_sum_units(double value) {
    if (PACE_UNLIKELY(!(fabs(value) < PACE_SUM_MOST)))
        value = value > 0 ? PACE_SUM_MOST : value < 0 ? -PACE_SUM_MOST : 0;
    int64_t whole = (int64_t)value;
    double fraction = (value - (double)whole) * (double)(INT64_C(1) << PACE_SUM_FRACTION_BITS);
    int64_t rounded = (int64_t)(fraction + (fraction < 0 ? -0.5 : 0.5)); /* below 2^40, so the half is exact */
    return (pace_int128)whole * (INT64_C(1) << PACE_SUM_FRACTION_BITS) + rounded;
}

static inline void pace_sum_add(pace_sum *sum, double value) { sum->units += pace_sum_units(value); }

/** Adds `value` `times` over. */
static inline void pace_sum_add_times(pace_sum *sum, double value, uint64_t times) {
    sum->units += pace_sum_units(value) * (pace_int128)times;
}

static inline void pace_sum_merge(pace_sum *into, const pace_sum *other) { into->units += other->units; }

/** The sum, rounded once to a double. */
static inline double pace_sum_value(const pace_sum *sum) {
    return (double)sum->units / (double)(INT64_C(1) << PACE_SUM_FRACTION_BITS);
}

pace_status pace_sum_pack(pace_bytes *bytes, const pace_sum *sum) PACE_MUST_CHECK;
pace_status pace_sum_unpack(pace_sum *out, pace_unpack *from) PACE_MUST_CHECK;

#endif
