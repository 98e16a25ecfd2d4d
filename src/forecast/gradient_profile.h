/* One worker's step of a model on a device, as the exchange of its gradients sees it. */
#pragma once

#include "base/estimate.h"
#include "insight/rank.h"
#include "machine/device.h"
#include "model/model.h"
#include "schedule/gradients.h"

/** Walks the model's step alone for its times, and once more with every gradient exchanged at once in no time, for when
 * each is ready. `config` is of one worker (dp = 1). `step_s` is the step's estimate. Errors: those of
 * pace_model_lower() and pace_forecast_run(); PACE_E_USAGE for inference or a config of several ranks. Free with
 * pace_gradient_profile_free(). */
pace_status pace_gradient_profile_make(pace_gradient_profile *out, pace_estimate *step_s, pace_catalog *catalog,
                                       const pace_model *model, const pace_config *config,
                                       const pace_device *device) PACE_MUST_CHECK;

/** The same of a step of one worker that was recorded, or walked from a recording: its gradients are those that
 * autograd accumulates, each ready when all that was launched by then is done. PACE_E_INPUT for what has no backward
 * pass, or does not say how large its gradients are. */
pace_status pace_gradient_profile_of_rank(pace_gradient_profile *out, const pace_rank *rank) PACE_MUST_CHECK;

/** Stretches all times so that the step takes `step_s`: as measured of one worker. */
void pace_gradient_profile_scale(pace_gradient_profile *profile, double step_s);
