/*
 * Quantiles of a distribution in memory that does not grow with it: weights in fixed logarithmic bins.
 *
 * A bin is an octave [2^e, 2^(e+1)) cut into 128 equal parts: the exponent and the first seven bits of the mantissa of
 * the double. So the bin of a value is found with integer arithmetic, the same on every machine, and merging is adding
 * whole numbers: any split and any order give the same bins. A bin stands for its middle, which is off by at most a
 * factor of 1 ± 2^-8 (0.39 %) from any value in it. (The same layout as in Tene's HdrHistogram; the promise as in
 * Masson, Rim, Lee, DDSketch, VLDB 2019.)
 *
 * Zero and values below 2^-64 (5.4e-20) are one bin, of value 0; values from 2^96 (7.9e28) on are one bin, of the
 * greatest value seen. Least and greatest are exact. An exact sketch keeps every value instead, and grows with their
 * number.
 */
#pragma once

#include "fleet/pack.h"

enum {
    PACE_SKETCH_PART_BITS = 7, /* parts of an octave: 2^7 */
    PACE_SKETCH_LOW = -64,     /* octaves there are bins for: [LOW, HIGH) */
    PACE_SKETCH_HIGH = 96,
};

/* The bound on a quantile's relative error. */
#define PACE_SKETCH_ERROR 0x1p-8

typedef struct {
    double value;
    uint64_t weight;
} pace_weighted;

/* Zero-initialise for an empty sketch of bins; {.exact = true} for an exact one. Free with pace_sketch_free(). */
typedef struct {
    bool exact;
    uint64_t total;                 /* weight of all values */
    uint64_t tiny, vast;            /* weight below 2^LOW and from 2^HIGH on */
    double least, greatest;         /* of the values seen, when total > 0 */
    uint64_t *bins;                 /* weights of the bins [first, first + count) */
    size_t first, count;            /* whole octaves */
    PACE_VEC(pace_weighted) values; /* exact: all of them, in any order until asked */
    bool sorted;
} pace_sketch;

void pace_sketch_free(pace_sketch *sketch);

/** Adds values[i], at least 0, weights[i] times, or once with weights NULL, for all i. NaN and negative values fail
 * with PACE_E_INTERNAL: whoever divides by zero should know. Infinity is a vast value. PACE_E_MEMORY. */
pace_status pace_sketch_add_all(pace_sketch *sketch, const double *values, const uint64_t *weights,
                                size_t count) PACE_MUST_CHECK;

/** Adds the values to one sketch once each and to another with their weights: as pace_sketch_add_all() for both. */
pace_status pace_sketch_add_both(pace_sketch *sketch, pace_sketch *weighted, const double *values,
                                 const uint64_t *weights, size_t count) PACE_MUST_CHECK;

/** Adds all of `other`; both exact or neither (PACE_E_INTERNAL). */
pace_status pace_sketch_merge(pace_sketch *into, const pace_sketch *other) PACE_MUST_CHECK;

/** The least value whose weight, with all below it, reaches the share `q` (0 to 1) of the total; NaN when empty. Within
 * PACE_SKETCH_ERROR of that of the values themselves, relative. */
double pace_sketch_quantile(pace_sketch *sketch, double q);

/** The share of the weight that lies below `x`; NaN when empty. Exact where `x` is a bin's lower edge (every power of
 * two, so 0.5 and 1), else a bin counts when its middle is below. */
double pace_sketch_below(pace_sketch *sketch, double x);

/** The sketch as bytes: the same for the same values, whatever was added or merged in which order. */
pace_status pace_sketch_pack(pace_bytes *bytes, pace_sketch *sketch) PACE_MUST_CHECK;
/** Reads one back. PACE_E_INPUT for bytes that no sketch packs to. */
pace_status pace_sketch_unpack(pace_sketch *out, pace_unpack *from) PACE_MUST_CHECK;
