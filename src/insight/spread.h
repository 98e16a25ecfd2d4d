/* Steps against each other: which are unlike the rest, and in what. */
#pragma once

#include "insight/rank.h"

typedef enum { PACE_STEP_USUAL, PACE_STEP_WARM_UP, PACE_STEP_OUTLIER, PACE_STEP_EMPTY } pace_step_verdict;

extern const char *const pace_step_verdict_names[];

typedef struct {
    pace_step_verdict verdict;
    pace_resource resource; /* of an unusual step: what differs most from the median step */
    int64_t resource_ns;    /* and by how much (signed) */
} pace_step_note;

typedef struct {
    PACE_VEC(pace_step_note) notes;       /* one per mark */
    int64_t median_ns, least_ns, most_ns; /* of the device intervals of usual steps */
    double spread;                        /* 1.4826 MAD / median: a robust standard deviation, relative */
} pace_spread;

/** A step is unusual when it is off the median by more than three robust standard deviations and by 5 %; the first such
 * step, when longer, is the warm-up. Of two steps the first is the warm-up when it is more than twice as long. */
pace_status pace_spread_measure(pace_spread *out, const pace_rank *rank) PACE_MUST_CHECK;
void pace_spread_free(pace_spread *spread);
