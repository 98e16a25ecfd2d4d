/* How well rows that were held out of a fit are predicted: of every fit that chooses what it learns by that.
 * An error is ln(predicted / measured) of one row, from a fit that did not see the row's unit (a model, a device). */
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { PACE_HELD_OUT_UNITS = 64 }; /* units are numbered below this */

typedef struct {
    size_t rows;
    double formula_mape; /* of the same rows, before anything was fitted */
    double mape, signed_mean, largest, coverage;
} pace_held_out;

/** Mean |predicted / measured - 1|. */
double pace_held_out_mape(const double *errors, size_t count);

/** How much smaller the errors `b` are than `a`, a row's counting for at most a factor of 2, less one standard error of
 * the units' sums; `surely`: less so many that chance exceeds it once in twenty times, of few units more. -1 with fewer
 * than two. */
double pace_held_out_gain(const double *a, const double *b, const unsigned *unit, size_t count, bool surely);

/** Fills all but `rows` and `formula_mape`, and the spread whose 90 % interval holds nine errors of ten; few `units`
 * tell little of others and widen it. Errors: PACE_E_MEMORY. */
pace_status pace_held_out_summarize(pace_held_out *out, double *spread, const double *errors, size_t count,
                                    size_t units) PACE_MUST_CHECK;
