/* Small questions about numbers that every room asks. */
#pragma once

static inline double pace_least(double a, double b) { return a < b ? a : b; }
static inline double pace_most(double a, double b) { return a > b ? a : b; }
