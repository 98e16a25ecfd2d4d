/* One step is asked about, and what it takes is predicted under every scenario. */
#pragma once

#include "ask/predict/prediction_data.h"

/** Opens what is asked: scenarios, and a model with its closed form; nothing is walked. It must not move once it is
 * open. Errors: those of the inputs and options; PACE_E_USAGE for an approach of a trace. Close it also after a
 * failure. */
pace_status pace_prediction_open(pace_prediction *out, const char *const *paths, size_t path_count,
                                 const pace_predict_options *options) PACE_MUST_CHECK;

/** Reads what else is asked about and walks every scenario: `results`, one each. Not for a model that is neither walked
 * (pace_step_is_walked()) nor framed. Errors: those of reading and walking; PACE_E_INTERNAL where walk and closed form
 * contradict each other. */
pace_status pace_prediction_run(pace_prediction *prediction, const char *const *paths, size_t path_count,
                                const pace_predict_options *options) PACE_MUST_CHECK;

void pace_prediction_close(pace_prediction *prediction);

/** Whether the step was measured and is the host's alone. */
bool pace_prediction_of_host(const pace_prediction *prediction);
