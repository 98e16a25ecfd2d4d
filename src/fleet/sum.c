#include "fleet/sum.h"

#include "base/each_cpu.h"

__extension__ typedef unsigned __int128 bits128;

/* --- many at once ------------------------------------------------------------------------------------------------- */

/* So many are added in 64 bits: 2^10 values below 2^40, and 2^10 products of 2^32 and 2^21. */
enum { TOGETHER = PACE_SUM_TOGETHER };
enum { TURNS = 4 }; /* sums that values of one place are added to in turn: none waits for the last */
static const double UNITS = PACE_SUM_UNITS, MOST_PLAIN = 0x1p40, MOVED = 0x1.8p52;

static void add_one_by_one(pace_sum *sum, const double *values, const uint64_t *times, size_t count) {
    for (size_t i = 0; i < count; i++) pace_sum_add_times(sum, values[i], times ? times[i] : 1);
}

/* The bits of a number moved to where its last place is 1, which hold the nearest whole number beside a constant
 * (pace_sum_nearest()). The constant is taken off once for all. */
static inline uint64_t bits_of(double moved) {
    uint64_t bits;
    memcpy(&bits, &moved, sizeof bits);
    return bits;
}

static inline int64_t without_constant(uint64_t bits, size_t count) { return (int64_t)(bits - count * bits_of(MOVED)); }

/* Units of numbers that are small, as shares and factors are; false where one is not. */
PACE_FOR_EACH_CPU
static bool add_small(pace_sum *sum, const double *values, size_t count) {
    uint64_t units = 0, beyond = 0;
    for (size_t i = 0; i < count; i++) {
        beyond |= (uint64_t) !(fabs(values[i]) < PACE_SUM_MOST_TIMED);
        units += bits_of(values[i] * UNITS + MOVED);
    }
    if (beyond) return false;
    sum->units += without_constant(units, count);
    return true;
}

/* Whole parts and fractions apart, each exact; the nearest unit is even where two are as near, as in one sum. */
PACE_FOR_EACH_CPU
static void add_some(pace_sum *sum, const double *values, size_t count) {
    uint64_t whole = 0, fraction = 0, beyond = 0; /* of signed numbers: they wrap around where they are not used */
    for (size_t i = 0; i < count; i++) {
        double value = values[i], moved = value + MOVED, rounded = moved - MOVED;
        beyond |= (uint64_t) !(fabs(value) < MOST_PLAIN);
        whole += bits_of(moved);
        fraction += bits_of((value - rounded) * UNITS + MOVED);
    }
    if (PACE_UNLIKELY(beyond)) {
        add_one_by_one(sum, values, NULL, count);
        return;
    }
    sum->units += (pace_int128)without_constant(whole, count) * (INT64_C(1) << PACE_SUM_FRACTION_BITS) +
                  without_constant(fraction, count);
}

void pace_sum_add_all(pace_sum *sum, const double *values, size_t count) {
    for (size_t at = 0; at < count; at += TOGETHER) {
        size_t some = count - at < TOGETHER ? count - at : TOGETHER;
        if (!add_small(sum, values + at, some)) add_some(sum, values + at, some);
    }
}

/* Units below 2^51 in two halves, each times what fits beside it. */
PACE_FOR_EACH_CPU
static void add_some_times(pace_sum *sum, const double *values, const uint64_t *times, size_t count) {
    uint64_t low = 0, high = 0, beyond = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t units = (uint64_t)pace_sum_nearest(values[i] * UNITS);
        beyond |= (uint64_t) !(values[i] >= 0 && values[i] < PACE_SUM_MOST_TIMED) |
                  (uint64_t)(times[i] >= PACE_SUM_MOST_TIMES);
        low += (units & UINT32_MAX) * (times[i] & UINT32_MAX);
        high += (units >> 32) * (times[i] & UINT32_MAX);
    }
    if (PACE_UNLIKELY(beyond)) add_one_by_one(sum, values, times, count);
    else sum->units += (pace_int128)high * ((pace_int128)1 << 32) + low;
}

void pace_sum_add_all_times(pace_sum *sum, const double *values, const uint64_t *times, size_t count) {
    for (size_t at = 0; at < count; at += TOGETHER)
        add_some_times(sum, values + at, times + at, count - at < TOGETHER ? count - at : TOGETHER);
}

PACE_FOR_EACH_CPU
static void add_some_each(pace_sum *sums, size_t places, const uint8_t *place, const double *values, size_t count) {
    int64_t units[TURNS][PACE_SUM_PLACES] = {{0}}, unit[TOGETHER];
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i++) beyond |= (uint64_t) !(fabs(values[i]) < PACE_SUM_MOST_TIMED);
    if (PACE_UNLIKELY(beyond)) {
        for (size_t i = 0; i < count; i++) pace_sum_add(&sums[place[i]], values[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) unit[i] = pace_sum_nearest(values[i] * UNITS);
    for (size_t i = 0; i < count; i++) units[i % TURNS][place[i]] += unit[i];
    for (size_t p = 0; p < places; p++)
        for (int turn = 0; turn < TURNS; turn++) sums[p].units += units[turn][p];
}

void pace_sum_add_each(pace_sum *sums, size_t places, const uint8_t *place, const double *values, size_t count) {
    for (size_t at = 0; at < count; at += TOGETHER)
        add_some_each(sums, places, place + at, values + at, count - at < TOGETHER ? count - at : TOGETHER);
}

/* --- as bytes ----------------------------------------------------------------------------------------------------- */

pace_status pace_sum_pack(pace_bytes *bytes, const pace_sum *sum) {
    bits128 bits = (bits128)sum->units;
    PACE_TRY(pace_pack_u64(bytes, (uint64_t)bits));
    return pace_pack_u64(bytes, (uint64_t)(bits >> 64));
}

pace_status pace_sum_unpack(pace_sum *out, pace_unpack *from) {
    uint64_t low = 0, high = 0;
    PACE_TRY(pace_unpack_u64(&low, from));
    PACE_TRY(pace_unpack_u64(&high, from));
    out->units = (pace_int128)((bits128)high << 64 | low);
    return PACE_OK;
}
