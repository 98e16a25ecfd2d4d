/* What the host does while the device waits for it or for input, by name, on two sides: the operator that runs on the
 * launching thread, or where none does the user's function, module or annotation. Launching calls are part of their
 * operator. */
#pragma once

#include "insight/compare/step_change.h"

typedef struct {
    const char *name;  /* borrowed from a step; "" = nothing is recorded */
    bool input;        /* the device waits for input */
    double a_ns, b_ns; /* per step */
} pace_host_gap;

typedef PACE_VEC(pace_host_gap) pace_host_gaps; /* the largest change first; free with PACE_VEC_FREE */

pace_status pace_host_gaps_of(pace_host_gaps *out, const pace_step_change *change) PACE_MUST_CHECK;
