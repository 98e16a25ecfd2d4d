/* What was walked becomes an answer: moved, doubted and held to what else is known. */
#pragma once

#include "ask/predict/prediction_data.h"

/** What the first rank lacks that lacks something. PACE_E_INPUT without any kernel: there is no step to predict, unless
 * operators move to a device by their shapes. */
pace_status pace_prediction_find_gap(pace_prediction *prediction, const pace_predict_options *options) PACE_MUST_CHECK;

/** Makes answers of what was walked: they are held to what was recorded, to the closed form and to the peaks, moved by
 * fits, and as unsure as what they rest on. Errors: PACE_E_INPUT for a replay that is far off its recording;
 * PACE_E_INTERNAL where walk and closed form contradict each other. */
pace_status pace_prediction_settle(pace_prediction *prediction, const pace_predict_options *options) PACE_MUST_CHECK;

/** Whether a step that takes `longer` times as long changes by less than the replay of its recording is off. */
bool pace_prediction_within_replay(const pace_prediction *prediction, double longer);
