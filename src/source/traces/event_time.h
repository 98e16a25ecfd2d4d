/* Which times of a trace are time at all. Private to source/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Times past ±87 years and durations past 104 days are damage, not time: differences and sums must not overflow. */
#define PACE_FARTHEST_NS (INT64_MAX / 10 * 3)
#define PACE_LONGEST_NS (INT64_MAX >> 10)

static inline bool pace_time_is_sane(int64_t start_ns, int64_t duration_ns) {
    return start_ns > -PACE_FARTHEST_NS && start_ns < PACE_FARTHEST_NS && duration_ns < PACE_LONGEST_NS;
}
