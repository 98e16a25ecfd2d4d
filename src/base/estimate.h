/*
 * A number that is not exact: what it is in the middle, how far off it may be, and how it was come by.
 *
 * The spread is of the logarithm, so an estimate is off by a factor: low and high bound 90 % of what a measurement
 * would give, median * e^(-1.645 spread) and median * e^(1.645 spread); but no measurement is below `least`, so that
 * low is not either.
 */
#pragma once

#include <math.h>
#include <stdint.h>

/* The ladder, best first. */
typedef enum {
    PACE_RUNG_MEASURED,   /* this very thing, on this very device */
    PACE_RUNG_CALIBRATED, /* a formula whose constants were measured on this device */
    PACE_RUNG_LEARNED,    /* a model fitted to measurements of other shapes or devices */
    PACE_RUNG_FORMULA,    /* a formula with published constants */
    PACE_RUNG_ROOFLINE,   /* peak rates only */
    PACE_RUNGS
} pace_rung;

extern const char *const pace_rung_names[PACE_RUNGS];

typedef struct {
    double median; /* in the unit its owner states */
    double spread; /* standard deviation of the natural logarithm */
    pace_rung rung;
    double least; /* nothing takes less, by arithmetic and peaks; 0 = not known */
} pace_estimate;

#define PACE_NORMAL_90 1.6448536269514722 /* 95th percentile of the standard normal: 90 % lie within */
#define PACE_NORMAL_MAD 1.4826            /* its standard deviation over its median absolute deviation */

static inline double pace_estimate_low(pace_estimate estimate) {
    return fmax(estimate.median * exp(-PACE_NORMAL_90 * estimate.spread), fmin(estimate.least, estimate.median));
}

static inline double pace_estimate_high(pace_estimate estimate) {
    return estimate.median * exp(PACE_NORMAL_90 * estimate.spread);
}

/** In another unit, or so many times as long. */
static inline void pace_estimate_scale(pace_estimate *estimate, double factor) {
    estimate->median *= factor;
    estimate->least *= factor;
}

/** Seconds as the nearest nanosecond. */
static inline int64_t pace_ns(double s) { return llround(s * 1e9); }

/** The ends of an estimate in seconds, rounded outwards: the interval holds the median also where a nanosecond is
 * much. */
static inline int64_t pace_estimate_low_ns(pace_estimate s) { return (int64_t)floor(pace_estimate_low(s) * 1e9); }
static inline int64_t pace_estimate_high_ns(pace_estimate s) { return (int64_t)ceil(pace_estimate_high(s) * 1e9); }
