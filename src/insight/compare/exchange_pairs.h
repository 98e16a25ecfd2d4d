/* What two sides exchange per step, by collective, group and size. */
#pragma once

#include "insight/ranks/exchange_totals.h"
#include "insight/compare/step_change.h"

/* Of one side, per step. */
typedef struct {
    double calls, time_ns, waiting_ns; /* calls 0 = the side has no such exchange; waiting NAN = not known */
    double busbw_per_s;                /* of a mean call; NAN = not known */
} pace_exchange_side;

typedef struct {
    const char *collective, *group, *dtype; /* as in pace_exchange_total; borrowed from a step */
    int64_t group_size, bytes;              /* 0 and -1 = not known */
    pace_exchange_side a, b;
} pace_exchange_pair;

typedef PACE_VEC(pace_exchange_pair)
    pace_exchange_pairs; /* the largest change of time first; free with PACE_VEC_FREE */

pace_status pace_exchange_pairs_of(pace_exchange_pairs *out, const pace_step_change *change,
                                   pace_catalog *catalog) PACE_MUST_CHECK;
