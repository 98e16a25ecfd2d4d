/* Sorting the one thing there are millions of: integer nanoseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Ascending. `scratch` holds `count` values too; its content is lost. Radix sort by bytes, those that are the same in
 * all values left out: durations have few. */
void pace_sort_ns(int64_t *values, int64_t *scratch, size_t count);

/** Sorts items of `size` bytes that stand in a few ascending runs, as those of several lanes do; equal ones stay in
 * their order. `scratch` has room for all. */
void pace_sort_runs(void *items, void *scratch, size_t count, size_t size,
                    int (*compare)(const void *left, const void *right));

/** qsort() of what mostly stands in its order already, which is found out first. */
void pace_sort_if_unsorted(void *items, size_t count, size_t size, int (*compare)(const void *left, const void *right));

/** Compares two doubles for qsort(): ascending. */
int pace_ascending(const void *left, const void *right);

/** The median of values, which it sorts; NAN of none. */
double pace_median(double *values, size_t count);

/** Ascending, in place, for the few. */
void pace_order_ns(int64_t *values, size_t count);
