/*
 * The clock of runs on the CPU. One thread is timed by the processor time it was given, so that on a machine that
 * others use their time slices do not count; several threads wait for each other, and only the wall clock sees that.
 */
#pragma once

#include "base/clock.h"

static inline double pace_host_clock_s(int threads) {
    return 1e-9 * (double)pace_clock_ns_of(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}
