/* Whether a recorded step fits into a device's memory under a what-if: with another batch, or elsewhere. */
#pragma once

#include "ask/predict/prediction.h"
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
} pace_trace_memory;

/** Of the scenario's step; nothing is asked of one that is not measured. */
pace_status pace_trace_memory_find(pace_trace_memory *out, const pace_prediction *prediction, size_t scenario,
                                   const pace_doubts *doubts) PACE_MUST_CHECK;
