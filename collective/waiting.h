/*
 * Waiting for another process: spin, then yield the processor, then sleep until woken. How long to spin follows from
 * how past waits ended, so that processes that share a processor soon stop spinning.
 *
 * A sleeper says so on its line; who publishes something looks there and wakes. Between the two stands a barrier that
 * the sleeper alone pays for (membarrier), where the system has it; elsewhere the publisher pays too. A sleeper wakes
 * by itself after a millisecond all the same, to let MPI make progress and to see whether the others live.
 */
#pragma once

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of each process of a host, in shared memory: a cache line. */
typedef struct {
    _Alignas(64) _Atomic uint32_t bell;
    _Atomic uint32_t sleeping;
    _Atomic int32_t pid;
    _Atomic uint32_t gone; /* it has failed, or left */
} pace_seat;

typedef struct {
    pace_seat *seats;
    int seat, count;
    bool fence;        /* the publisher must order its store before looking for sleepers */
    uint32_t spin_now; /* times */
    uint32_t spin_most;
    double patience_s; /* 0 = for ever */
    void (*progress)(void *);
    void *context;
    uint64_t spins, yields, sleeps;
} pace_waiter;

/** Of the process on `seat`; `crowded`: there are more processes than processors. `spin` = 0: as many turns as suit. */
void pace_waiter_init(pace_waiter *waiter, pace_seat *seats, int seat, int count, bool crowded, uint32_t spin);

/* One wait. Zero-initialise. */
typedef struct {
    uint32_t turns;
    bool armed;
    uint32_t bell;
    int64_t since_ns, looked_ns;
} pace_wait;

/** One turn of waiting, past those that spin. PACE_E_IO when another process is gone or patience has ended. */
pace_status pace_wait_turn(pace_wait *wait, pace_waiter *waiter) PACE_MUST_CHECK;
/** The same for a message of MPI, which wakes nobody: yields and never sleeps. */
pace_status pace_wait_awake(pace_wait *wait, pace_waiter *waiter) PACE_MUST_CHECK;
void pace_wait_end(pace_wait *wait, pace_waiter *waiter);

static inline void pace_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/** Asks for a line that is to be written. (A compiler's own prefetch asks for reading unless told the processor.) */
static inline void pace_fetch_to_write(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/** Waits until the condition holds; returns from the caller on failure. */
#define PACE_WAIT_UNTIL(waiter, condition)                                               \
    do {                                                                                 \
        if (condition) break;                                                            \
        pace_wait pace_wait_ = {0};                                                      \
        pace_status pace_waited_ = PACE_OK;                                              \
        while (!(condition) && pace_waited_ == PACE_OK) {                                \
            if (pace_wait_.turns < (waiter)->spin_now) pace_wait_.turns++, pace_relax(); \
            else pace_waited_ = pace_wait_turn(&pace_wait_, waiter);                     \
        }                                                                                \
        pace_wait_end(&pace_wait_, waiter);                                              \
        PACE_TRY(pace_waited_);                                                          \
    } while (0)

/** Wakes the process on a seat if it sleeps. After what it waits for was published. */
void pace_wake_up(pace_seat *seat);
static inline void pace_wake(const pace_waiter *waiter, int seat) {
    if (PACE_UNLIKELY(atomic_load_explicit(&waiter->seats[seat].sleeping, memory_order_relaxed)))
        pace_wake_up(&waiter->seats[seat]);
}
/** The same for all others. */
static inline void pace_wake_all(const pace_waiter *waiter) {
    if (waiter->fence) atomic_thread_fence(memory_order_seq_cst);
    else atomic_signal_fence(memory_order_seq_cst);
    for (int i = 0; i < waiter->count; i++)
        if (i != waiter->seat) pace_wake(waiter, i);
}

/** Tells the others that this process exchanges no more. */
void pace_waiter_leave(pace_waiter *waiter);
