/* What the benchmarks in C share: two clocks, and an end at the first failure. */
#pragma once

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_clock_s(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double wall_s(void) { return bench_clock_s(CLOCK_MONOTONIC); }

/* Processor time of all threads: the machine may be shared. */
static inline double cpu_s(void) { return bench_clock_s(CLOCK_PROCESS_CPUTIME_ID); }

static inline void check(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "%s\n", pace_message());
    exit(1);
}
