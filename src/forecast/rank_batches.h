/* How many samples the ranks of a forecast compute at a time, and how often a step: micro-batches are counted where all
 * ranks have as many. */
#pragma once

#include "forecast/forecast_data.h"
#include "insight/compare/step_change.h"

/** One size a rank, in its order. `step_samples`: what a step of a rank is said to have; 0 = its shapes tell. */
pace_status pace_rank_batches_find(pace_batch_size *out, const pace_forecast *forecast,
                                   double step_samples) PACE_MUST_CHECK;

/** The first rank's. */
pace_status pace_rank_batches_first(pace_batch_size *out, const pace_forecast *forecast,
                                    double step_samples) PACE_MUST_CHECK;

/** Samples of the typical step of a comparison's side, by its shapes; 0 = unknown. */
pace_status pace_side_samples(int64_t *out, const pace_step_side *side, pace_catalog *catalog) PACE_MUST_CHECK;
