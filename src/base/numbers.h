/* Small questions about numbers that every room asks. */
#pragma once

#include <math.h>
#include <stdint.h>

static inline double pace_least(double a, double b) { return a < b ? a : b; }
static inline double pace_most(double a, double b) { return a > b ? a : b; }

/** A part of a whole; NAN of nothing. */
static inline double pace_part_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }
/** An amount over another; NAN where either is not known. */
static inline double pace_known_rate(double amount, double per) { return per > 0 && amount > 0 ? amount / per : NAN; }

/** llround() of what fits into 64 bits, without a call: a walk rounds some times a task. */
static inline int64_t pace_round(double value) {
    int64_t whole = (int64_t)value;
    double rest = value - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}
