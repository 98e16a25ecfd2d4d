/* What is due when: a heap of numbers, each of them there once at most, that can be told another time. Inside of
 * flows*.c. */
#pragma once

#include "base/memory.h"

#include <math.h>

typedef struct {
    double at_ns;
    uint32_t number;
} pace_due;

typedef struct {
    PACE_VEC(pace_due) heap;
    uint32_t *place; /* number -> its place in the heap + 1; 0 = not due. Borrowed */
} pace_due_times;

/** When the first is due; INFINITY = none is. */
static inline double pace_due_next(const pace_due_times *due) {
    return due->heap.count ? due->heap.items[0].at_ns : (double)INFINITY;
}

/** From now on this number is due then. */
pace_status pace_due_set(pace_due_times *due, uint32_t number, double at_ns) PACE_MUST_CHECK;

/** Takes one out that is due. */
void pace_due_drop(pace_due_times *due, uint32_t number);
