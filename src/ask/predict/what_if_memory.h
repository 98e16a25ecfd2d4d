/* Which what-ifs do not fit into their device's memory: of a model's step by its closed form, of a recorded one by its
 * memory events. */
#pragma once

#include "ask/predict/prediction_data.h"
#include "ask/predict/step_memory.h"

/* Of the rank that needs most. What the allocator held before its first recorded event stays; what it held more at its
 * peak grows with the samples. Gradients and optimizer states that were taken after that count as if they grew, too:
 * where the recording begins with the training, the need is an upper bound. */
typedef struct {
    bool known;                    /* the recording has memory events of a device (profile_memory=True) */
    bool at_least;                 /* the recording has changes without totals: the need is a lower bound */
    bool asked;                    /* another batch, or a device with less memory than the recorded one */
    double need_bytes, has_bytes;  /* has 0 = the device's is not known */
    pace_step_fitting fitting;     /* of a need that is known */
    double fitting_samples;        /* the largest power of two that fits; 0 = none */
    char remedy[PACE_REMEDY_TEXT]; /* of a model: what makes it fit, as pace_step_remedy(); empty = not known */
    const char *device;            /* its name; NULL = unknown */
} pace_scenario_memory;

/* What-ifs of one outcome. */
typedef struct {
    size_t count, first;         /* first: the number of its scenario */
    pace_scenario_memory memory; /* of the first */
} pace_what_if_outcome;

typedef struct {
    pace_what_if_outcome too_large, unsure, unknown;
} pace_what_if_memory;

/** Of all what-ifs whose step holds something else than the one that is asked about. */
pace_status pace_what_if_memory_of(pace_what_if_memory *out, pace_prediction *prediction,
                                   const pace_doubts *doubts) PACE_MUST_CHECK;
