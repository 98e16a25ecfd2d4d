/* A model's step, walked with as few micro-batches and operators as tell the whole. */
#pragma once

#include "ask/predict/prediction_data.h"

/** A model's forecast; of a step that folds with its result. Where not all of that is the whole step's, and the whole
 * step is not too large, that is walked. */
pace_status pace_prediction_walk_model(pace_prediction *prediction,
                                       const pace_predict_options *options) PACE_MUST_CHECK;

/** What is drawn of the last scenario: all that was walked of it, of a folded one anew and whole, if it is not too
 * large. */
pace_status pace_prediction_drawn(const pace_forecast_result **out, pace_prediction *prediction) PACE_MUST_CHECK;
