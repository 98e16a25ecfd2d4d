/* What is scaled over workers: one worker's step of a model, of a trace, or of an execution trace. */
#pragma once

#include "forecast/gradient_profile.h"
#include "model/config.h"
#include "model/model_settings.h"
#include "ask/predict/predict_inputs.h"

/* One worker's step with a batch. */
typedef struct {
    double batch, spread;
    pace_gradient_profile profile;
} pace_worker_step;

typedef struct {
    const char *name;      /* as given, borrowed */
    pace_catalog *catalog; /* borrowed */
    bool is_model;
    pace_predict_inputs inputs; /* of recordings */
    double samples;             /* of them: of one step as recorded */
    double passes;              /* of them: micro-batches of such a step */
    pace_config config;
    const pace_device *device;
    double one_worker; /* samples/s measured; 0 = to be predicted */
    PACE_VEC(pace_worker_step) steps;
} pace_scaling_input;

/** Opens a model by name or file, a trace or an execution trace of one worker. `settings` are a model's. `samples` of a
 * step of a trace are inferred where 0; `devices` holds the device that it was recorded on. Errors: PACE_E_USAGE for
 * several ranks, or settings of a trace; those of the readers. Free with pace_scaling_input_free(). */
pace_status pace_scaling_input_open(pace_scaling_input *out, const char *name, const pace_device *device,
                                    pace_device_catalog *devices, const pace_scaling_options *options) PACE_MUST_CHECK;
void pace_scaling_input_free(pace_scaling_input *input);

/** The batch it has where none is asked for. */
double pace_scaling_input_batch(const pace_scaling_input *input);

/** One worker's step with a batch, made once for each. Valid until the next call. */
pace_status pace_scaling_input_step(const pace_worker_step **out, pace_scaling_input *input,
                                    double batch) PACE_MUST_CHECK;
