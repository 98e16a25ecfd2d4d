/* What the trees of learn.h see. Private to learn*.c. */
#ifndef PACE_COST_LEARN_FEATURES_H
#define PACE_COST_LEARN_FEATURES_H

#include "cost/learn.h"

enum { PACE_LEARN_VIEWS = PACE_NEAREST_AXES + 1, PACE_LEARN_FEATURES = PACE_SAMPLE_TRAITS + 2 * PACE_LEARN_VIEWS + 2 };

/** The features of a sample among its own series; `*local` = what the neighbours say. `but`: a group of `near` left
 * out, UINT32_MAX for none. Returns how many features. */
unsigned pace_learn_near(float *features, double *local, const pace_learned *learned, uint32_t series,
                         const pace_sample *sample, uint32_t but);

/** What a series' spread is multiplied with, from these features: the further the neighbours, the wider. */
double pace_learn_doubt(const float *features);

/** How unlike a series is to what is asked: 0 = alike; below PACE_LEARN_NEAR only the source or the storage differs;
 * UINT32_MAX = another pass. */
unsigned pace_learn_unlike(const pace_series *series, const pace_op *op, const char *device, const char *source);

enum { PACE_LEARN_NEAR = 4 };

/** What the series most like it say of an operation that has no series of its own: `*base`, the mean ln of their base
 * times, and `*local`, the mean of their neighbours' values. Series on device `but_device` (NULL = none) are left out,
 * and rows of group `but`. False when no series has this pass. */
bool pace_learn_far(double *base, double *local, const pace_learned *learned, const pace_op *op,
                    const pace_sample *sample, const char *device, const char *source, const char *but_device,
                    uint32_t but);

#endif
