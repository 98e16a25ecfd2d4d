/* Kernels by how long they take: whether the time is in many short ones or few long ones. */
#pragma once

#include "insight/tables/operators.h"

enum { PACE_DURATION_BINS = 30 };

typedef struct {
    int64_t from_ns, to_ns; /* [from, to): ends are 1, 2 and 5 times a power of ten */
    size_t kernels;
    int64_t time_ns;
} pace_duration_bin;

typedef struct {
    pace_duration_bin items[PACE_DURATION_BINS];
    size_t first, count; /* those from the first with kernels to the last */
    size_t kernels;
    int64_t time_ns; /* of all kernels */
} pace_duration_bins;

/** Chosen kernels: no copies and fills; nothing without a device. */
pace_duration_bins pace_duration_bins_of(const pace_rank *rank, const pace_work_choice *choice);
