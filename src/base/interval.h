/*
 * Unions of time intervals: disjoint, ascending, in integer nanoseconds, so that sums are exact.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    int64_t start_ns, end_ns;
} pace_interval;

typedef PACE_VEC(pace_interval) pace_intervals;

/** Adds [start, end) to the union; starts must come in ascending order. Empty intervals change nothing. */
pace_status pace_intervals_add(pace_intervals *set, int64_t start_ns, int64_t end_ns) PACE_MUST_CHECK;

/** Whether an instant is in the union; NULL = it is all time. */
bool pace_intervals_hold(const pace_intervals *set, int64_t at_ns);

/** Length of the part inside [start, end). */
int64_t pace_intervals_within(const pace_intervals *set, int64_t start_ns, int64_t end_ns);

/** Length of the union of several unions (at most 4) inside [start, end). */
int64_t pace_intervals_joined(const pace_intervals *const *sets, size_t count, int64_t start_ns, int64_t end_ns);

/** Length of the intersection of two unions inside [start, end). */
int64_t pace_intervals_common(const pace_intervals *a, const pace_intervals *b, int64_t start_ns, int64_t end_ns);
