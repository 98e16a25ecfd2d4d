/* Pairs of traces that calibrate a move between two devices. */
#pragma once

#include "ask/engine_options.h"
#include "forecast/forecast.h"

/** Reads "FROM_TRACE=TO_TRACE" (the same step recorded on two devices) and takes it in, moved with `cost`'s ladder.
 * PACE_E_USAGE when it is no pair, PACE_E_MISSING when a trace names no device, and those of pace_analyze(). */
pace_status pace_predict_calibrate(pace_pair_calibration *out, const char *pair, const pace_cost *cost,
                                   const pace_predict_options *options) PACE_MUST_CHECK;
