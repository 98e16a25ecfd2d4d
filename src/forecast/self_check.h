/*
 * What must hold of every prediction, whatever the numbers are. A prediction that breaks one is not given: the error
 * names the numbers. Of what was measured the same is counted, and told as a warning.
 */
#pragma once

#include "forecast/forecast_price.h"

/** Every launch of the originals is part of exactly one, which does its parts' arithmetic, as much more as samples or
 * tables were added; no amount is below 0, and nothing that moved bytes moves none. */
pace_status pace_self_check_edits(const pace_variant *variants, size_t count) PACE_MUST_CHECK;

/** No kernel is faster than its device's roofline. One that was measured to be is counted in *beyond. Kernels that a
 * scenario scales are its own affair. */
pace_status pace_self_check_prices(size_t *beyond, const double *launch_ns,
                                   const pace_pricing *pricing) PACE_MUST_CHECK;

/** No task is lost: every launch is in its rank's walked step once a repeat, and takes as long as it was priced at; the
 * steps' invariants hold. */
pace_status pace_self_check_walk(const pace_step *steps, const pace_walk_rank *ranks, size_t count,
                                 unsigned repeats) PACE_MUST_CHECK;

/** The cells of stages and resources add up to each step. */
pace_status pace_self_check_matrix(const pace_analysis *analysis) PACE_MUST_CHECK;
