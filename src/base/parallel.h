/* Independent work on all threads. */
#pragma once

#include "base/status.h"

/** The number of threads that work. */
size_t pace_workers(void);

/** `worker` is below pace_workers() of the thread that asks; within a worker calls follow each other. */
typedef pace_status (*pace_body_fn)(void *context, size_t worker, size_t i);

/** Runs body(context, worker, i) for i in [0, count) on all threads, and returns the failure of the lowest i, its
 * message set. */
pace_status pace_for_each(size_t count, pace_body_fn body, void *context) PACE_MUST_CHECK;
