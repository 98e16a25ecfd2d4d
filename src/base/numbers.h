/* Small questions about numbers and arrays that every room asks. */
#pragma once

/** Elements of an array, which must not have become a pointer. */
#define PACE_COUNT(array) (sizeof(array) / sizeof *(array))

static inline double pace_least(double a, double b) { return a < b ? a : b; }
static inline double pace_most(double a, double b) { return a > b ? a : b; }
