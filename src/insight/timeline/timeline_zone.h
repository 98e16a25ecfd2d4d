/* How closely a stretch of time is drawn. */
#pragma once

#include "base/memory.h"

/* The tasks that start in [from, to): those shorter than `thin_ns` are merged with their neighbours, as long as both
 * together are no longer than `run_ns`, and hide what they enclose; 0 = every task is shown. */
typedef struct {
    int64_t from_ns, to_ns, thin_ns, run_ns;
} pace_zone;

/* By time; the first begins at INT64_MIN, the last ends at INT64_MAX, none overlap, no gaps. */
typedef PACE_VEC(pace_zone) pace_zones;
