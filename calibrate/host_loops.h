/* Loops over plain arrays: what the CPU does where no library is asked. */
#pragma once

#include "point.h"

#include <stdint.h>

/* The tensors and sizes of one point; what each loop uses of it stands there. */
typedef struct pace_host_work {
    float *a, *b, *c;
    int32_t *index;
    size_t m, n, k, columns, diagonal; /* columns of the first row's triangle */
    size_t samples, rows, lookups, d;
} pace_host_work;

/** Does items [from, to). */
typedef void (*pace_host_loop)(const pace_host_work *work, size_t from, size_t to);

/** The loop of an operation, NULL when there is none. */
pace_host_loop pace_host_loop_of(const pace_point *point);
