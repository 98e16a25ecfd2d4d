/* What the trees of learn.h see. Private to learn*.c. */
#ifndef PACE_COST_LEARN_FEATURES_H
#define PACE_COST_LEARN_FEATURES_H

#include "cost/learn.h"

enum {
    PACE_LEARN_VIEWS = PACE_NEAREST_AXES + 1,
    PACE_LEARN_FEATURES = PACE_SAMPLE_TRAITS + 2 * PACE_LEARN_VIEWS + 2,
    PACE_LEARN_FAR_FEATURES = PACE_SAMPLE_TRAITS + 4
};

/** The features of a sample among its own series; `*local` = what the neighbours say. `but`: a group of `near` left
 * out, UINT32_MAX for none. Returns how many features. */
unsigned pace_learn_near(float *features, double *local, const pace_learned *learned, uint32_t series,
                         const pace_sample *sample, uint32_t but);

/** The features of a sample on a device without rows: from the series like it on devices other than `device`. False
 * when there is none. `*devices` = how many series spoke. */
bool pace_learn_far(float *features, double *local, unsigned *devices, const pace_learned *learned, const pace_op *op,
                    const pace_sample *sample, const char *device, const char *source, uint32_t but);

/** How unlike a series is to what is asked, its device left aside: 0 = alike; UINT32_MAX = another pass. */
unsigned pace_learn_unlike(const pace_series *series, const pace_op *op, const char *source);

#endif
