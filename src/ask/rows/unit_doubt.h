/* Whether what a table measured is of the size that formulas expect: a column in another unit than its name says, a
 * batch that was not what ran, another machine. Asked before a fit learns from it, of any kind of rows. */
#pragma once

#include "ask/rows/row_kind.h"

/** How many times as long as by formula measured questions took, the median; 1 = that is usual, or fewer than 3 of
 * those that are looked at can tell. Before learn(). Errors: PACE_E_MEMORY. */
pace_status pace_unit_doubt_of(double *out, const pace_row_kind *kind, void *state, size_t tables) PACE_MUST_CHECK;
