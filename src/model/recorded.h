/* What a model that was found in a recording brings with it: how it was run, and how long its kernels took. */
#pragma once

#include "base/memory.h"
#include "machine/device.h"
#include "model/found_layers.h"
#include "step/timed_op.h"

typedef struct pace_recorded {
    pace_found_layers layers;
    pace_device device;                  /* where the kernels were timed */
    int precision, optimizer, attention; /* as in pace_config; PACE_NOT_RECORDED = the recording does not say */
    PACE_VEC(pace_timed_op) kernels;     /* none where it has no times, or its device is not of the catalogue */
} pace_recorded;

enum { PACE_NOT_RECORDED = -1 };

static inline void pace_recorded_free(pace_recorded *recorded) {
    if (recorded) PACE_VEC_FREE(&recorded->kernels);
    pace_free(recorded);
}
