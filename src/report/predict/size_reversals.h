/* Larger messages that take less time than smaller ones: an answer that has any says so. */
#pragma once

#include "report/report.h"

typedef struct {
    double bytes, time_s;
    char how[64]; /* the algorithm, with its protocol */
} pace_size_time;

typedef PACE_VEC(pace_size_time) pace_size_times;

/** Adds a size; `protocol` may be NULL or empty. */
pace_status pace_size_times_add(pace_size_times *times, double bytes, double time_s, const char *algorithm,
                                const char *protocol) PACE_MUST_CHECK;

/** Says how many take less time than a smaller one, which of them least for it, and why that is. */
void pace_say_reversals(pace_node *root, const pace_size_times *times);
