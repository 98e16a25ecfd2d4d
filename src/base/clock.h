/* The system's clocks. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t pace_clock_ns_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** By CLOCK_MONOTONIC, as all below. */
static inline int64_t pace_clock_ns(void) { return pace_clock_ns_of(CLOCK_MONOTONIC); }
static inline double pace_clock_s(void) { return 1e-9 * (double)pace_clock_ns(); }

/** The time in so many seconds, as pthread_cond_timedwait() takes it. */
static inline struct timespec pace_clock_after(double seconds) {
    int64_t at = pace_clock_ns() + (int64_t)(seconds * 1e9);
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};
}

/** Keeps the thread busy; not at all for 0 or less. */
static inline void pace_clock_spend(double seconds) {
    if (!(seconds > 0)) return;
    for (double start = pace_clock_s(); pace_clock_s() - start < seconds;) {}
}
