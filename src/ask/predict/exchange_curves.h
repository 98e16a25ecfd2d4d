/* An exchange over the sizes that were asked, as its page draws it: times with some sizes between, what was measured on
 * these ranks, and where the library changes its way. */
#pragma once

#include "ask/predict/exchange_asked.h"

typedef struct {
    double bytes;
    pace_estimate time_s;
} pace_drawn_size;

/* From a size on. */
typedef struct {
    uint64_t from_bytes;
    const char *algorithm, *protocol; /* borrowed; protocol "" where there is none */
} pace_exchange_change;

typedef struct {
    PACE_VEC(pace_drawn_size) sizes;
    PACE_VEC(pace_exchange_change) changes; /* the first is the smallest size's way */
    PACE_VEC(pace_curve_point) measured;
    double bus_factor;
} pace_exchange_curves;

/** Free `out`, which begins as zeros, after a failure too. Errors: those of pace_exchange_asked_answer(). */
pace_status pace_exchange_curves_make(pace_exchange_curves *out, const pace_exchange_asked *asked) PACE_MUST_CHECK;
void pace_exchange_curves_free(pace_exchange_curves *curves);
