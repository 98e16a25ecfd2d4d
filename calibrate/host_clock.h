/*
 * The clock of runs on the CPU. One thread is timed by the processor time it was given, so that on a machine that
 * others use their time slices do not count; several threads wait for each other, and only the wall clock sees that.
 */
#pragma once

#include <time.h>

static inline double pace_host_clock_s(int threads) {
    struct timespec now;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
