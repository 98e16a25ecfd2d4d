/*
 * Sums whose result does not depend on the order: 128-bit fixed point, in units of 2^-40 (about 1e-12). Each value is
 * rounded once, to the nearest unit; adding and merging are integer additions, so any split over threads or processes
 * gives the same bits. A sum holds up to 2^87 (1.5e26): a billion values of 2^57 (1.4e17) each.
 */
#pragma once

#include "fleet/pack.h"

#include <math.h>
#include <string.h>

enum { PACE_SUM_FRACTION_BITS = 40 };
#define PACE_SUM_UNITS 0x1p40 /* in one */

/* Values below PACE_SUM_MOST_TIMED have units that pace_sum_nearest() takes; so many of them, each times a number below
 * PACE_SUM_MOST_TIMES, are added in 64 bits in two halves. */
#define PACE_SUM_MOST_TIMED 0x1p11
enum { PACE_SUM_TOGETHER = 1 << 10, PACE_SUM_MOST_TIMES = 1 << 21 };

/* The largest magnitude of one value; larger ones (and infinities) count as this, NaN as zero. Readers refuse both. */
#define PACE_SUM_MOST 0x1p62

__extension__ typedef __int128 pace_int128;

typedef struct {
    pace_int128 units;
} pace_sum;

/** The nearest whole number (the even one of two) of a value within 2^51: the sum with 1.5 * 2^52 has a unit of 1 in
 * its last place, and holds the number in its bits. */
static inline int64_t pace_sum_nearest(double value) {
    double moved = value + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &moved, sizeof bits);
    return (int64_t)(bits - UINT64_C(0x4338000000000000));
}

/** The value in units. Whole and fraction are converted apart, as both fit an int64. */
static inline pace_int128 pace_sum_units(double value) {
    if (PACE_UNLIKELY(!(fabs(value) < PACE_SUM_MOST)))
        value = value > 0 ? PACE_SUM_MOST : value < 0 ? -PACE_SUM_MOST : 0;
    int64_t whole = (int64_t)value;
    int64_t rounded = pace_sum_nearest((value - (double)whole) * (double)(INT64_C(1) << PACE_SUM_FRACTION_BITS));
    return (pace_int128)whole * (INT64_C(1) << PACE_SUM_FRACTION_BITS) + rounded;
}

static inline void pace_sum_add(pace_sum *sum, double value) { sum->units += pace_sum_units(value); }

/** Adds `value` `times` over. */
static inline void pace_sum_add_times(pace_sum *sum, double value, uint64_t times) {
    sum->units += pace_sum_units(value) * (pace_int128)times;
}

/** Adds all values: the same bits as one after the other, in a loop without branches. */
void pace_sum_add_all(pace_sum *sum, const double *values, size_t count);
/** Adds values[i] times[i] over, for all i. */
void pace_sum_add_all_times(pace_sum *sum, const double *values, const uint64_t *times, size_t count);
/** Adds values[i] to sums[place[i]], for all i; places are below `places`, of which there are at most PACE_SUM_PLACES.
 */
enum { PACE_SUM_PLACES = 16 };
void pace_sum_add_each(pace_sum *sums, size_t places, const uint8_t *place, const double *values, size_t count);

static inline void pace_sum_merge(pace_sum *into, const pace_sum *other) { into->units += other->units; }

/** The sum, rounded once to a double. */
static inline double pace_sum_value(const pace_sum *sum) {
    return (double)sum->units / (double)(INT64_C(1) << PACE_SUM_FRACTION_BITS);
}

pace_status pace_sum_pack(pace_bytes *bytes, const pace_sum *sum) PACE_MUST_CHECK;
pace_status pace_sum_unpack(pace_sum *out, pace_unpack *from) PACE_MUST_CHECK;
