/*
 * The exchange of gradients within the walk of a whole step. The step is walked with exchanges that take no time, which
 * says when each gradient is ready; the approach's lanes (schedule/gradients.h) say when each has been exchanged; and
 * the step is walked again with exchanges that take until then. Private to the forecast.
 */
#pragma once

#include "forecast/forecast_price.h"

/** Sets what the exchanges of a rank take in `launch_ns`, given the step walked without them. `*out` says how it was.
 */
pace_status pace_gradients_price(double *launch_ns, pace_forecast_exchange *out, const pace_pricing *pricing,
                                 const pace_step *walked) PACE_MUST_CHECK;

/** How many ranks exchange gradients in a graph; 0 = none do. */
int64_t pace_gradients_ranks(const pace_graph *graph);
/** Neighbouring ranks from the first to the last of the widest group that exchanges gradients; 0 = none does. */
int64_t pace_gradients_span(const pace_graph *graph);
