/* Reductions of vectors, compiled for several processors; the fitting one is chosen when the program starts. */
#pragma once

#include "paceline/collective.h"

#include <stdbool.h>
#include <stddef.h>

/** out[i] = a[i] OP b[i]. `out` may be `a` or `b`; no other overlap. The average is a sum here. */
typedef void (*pace_reduce_fn)(void *out, const void *a, const void *b, size_t count);

pace_reduce_fn pace_reduce_of(pace_element element, pace_reduction reduction);

/** Divides by the number of ranks: the end of an average. */
void pace_reduce_divide(void *data, size_t count, pace_element element, int ranks);

/** Whether so many bytes, of all processes together, are more than half of the last cache. */
bool pace_is_past_caches(size_t bytes);

/** Copies past the caches, for memory that nobody reads soon. What it wrote is visible before later stores. */
void pace_copy_past_caches(void *out, const void *in, size_t bytes);
