/* What the trees of learn.h see. Private to learn*.c. */
#pragma once

#include "cost/learned.h"

enum { PACE_LEARN_VIEWS = PACE_NEAREST_AXES + 1, PACE_LEARN_FEATURES = PACE_SAMPLE_TRAITS + 2 * PACE_LEARN_VIEWS + 2 };

/** Sets how far a series' points reach along each axis. */
void pace_learn_bound(pace_series *series, const float *points);

/** Whether two logarithms of a size are of one size. */
static inline bool pace_learn_same_size(float a, float b) {
    static const float rounding = 1e-4f;
    return a - b <= rounding && b - a <= rounding;
}

/** Where a series is asked for a sample's sizes: at these, or beyond its points at the nearest edge of them, since what
 * measurements are off their base there holds on while the base carries the sizes on (neighbours far off would fall
 * back to their mean). False: beyond. */
bool pace_learn_inside(float *at, const pace_series *series, const pace_sample *sample, unsigned axes);

/** The features of a sample among its own series; `*local` = what the neighbours say. `but`: a group of `near` left
 * out, UINT32_MAX for none. Returns how many features. */
unsigned pace_learn_near(float *features, double *local, const pace_learned *learned, uint32_t series,
                         const pace_sample *sample, uint32_t but);

/** What a series' spread is multiplied with, from these features: the further the neighbours, the wider. */
double pace_learn_doubt(const float *features);

/* In what a series differs from what is asked, the gravest first. */
enum {
    PACE_UNLIKE_DEVICE = 32,
    PACE_UNLIKE_KIND = 16,
    PACE_UNLIKE_PRECISION = 8,
    PACE_UNLIKE_STORAGE = 4,
    PACE_UNLIKE_HALF = 2, /* FP16 for BF16, or the other way round */
    PACE_UNLIKE_SOURCE = 1,
    PACE_LEARN_NEAR = PACE_UNLIKE_PRECISION /* below: as good as its own */
};

/** The sum of those that apply; UINT32_MAX = another pass. */
unsigned pace_learn_unlike(const pace_series *series, const pace_op *op, const char *device, const char *source);

/* What one series says of an operation that has no series of its own. */
typedef struct {
    double base;  /* ln of formula and fixed time on the device that is asked for */
    double local; /* ln of what its neighbours take over theirs */
    double apart; /* of the devices, in doublings of their figures */
} pace_learn_view;

/* How views are put together: the share of a local value that another device inherits, and the distance over which
 * devices are alike. */
typedef struct {
    double share, reach;
} pace_learn_rule;

enum { PACE_LEARN_FAR_VIEWS = 12 };
#define PACE_LEARN_LEAST_DOUBT 0.05 /* of views that agree */

/** What the series most like the operation say; the devices nearest by their figures where there are too many. Series
 * on device `but_device` (NULL = none) are left out, and rows of group `but`. Returns how many: 0 when none has this
 * pass. */
unsigned pace_learn_far(pace_learn_view *views, const pace_learned *learned, const pace_op *op,
                        const pace_sample *sample, const char *device, const char *source, const char *but_device,
                        uint32_t but);

/** Their mean, weighted by how near the devices are: ln of the time. `*doubt`: how much they disagree, and how far the
 * nearest is. */
double pace_learn_blend(double *doubt, const pace_learn_view *views, unsigned count, const pace_learn_rule *rule);
