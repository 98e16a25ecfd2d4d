/* What pace_predict() is asked about: traces that were measured, or steps without times. */
#pragma once

#include "base/texts.h"
#include "base/warning.h"
#include "ask/engine_options.h"
#include "plan/step_engine.h"

typedef struct {
    pace_analysis measured; /* of traces */
    bool is_measured;       /* else the inputs are graphs or models, and `paths` names them */
    pace_texts paths;
    pace_warnings warnings;
    pace_forecast forecast;
    char *steps;    /* the numbers of the measured steps that the forecast is of, "6:8"; NULL = all that were read */
    double samples; /* of a model: those of a rank's step; 0 = shapes tell */
} pace_predict_inputs;

/** Whether a word means a model: a file that holds one, or a name that is no file's. */
pace_status pace_predict_is_model(bool *out, const char *input) PACE_MUST_CHECK;

/** Whether the inputs are traces, which have times. PACE_E_IO and PACE_E_INPUT for what cannot be opened or found. */
pace_status pace_predict_inputs_have_times(bool *out, const char *const *inputs, size_t count) PACE_MUST_CHECK;

/** Reads the inputs: traces (files, directories, globs, "-"), execution traces (one per rank), or one model, which is
 * open in `model` (else NULL). `device` is what steps without times run on; NULL = what they were recorded on. */
pace_status pace_predict_inputs_read(pace_predict_inputs *out, const char *const *inputs, size_t count,
                                     const pace_device *device, const pace_step_case *model,
                                     const pace_predict_options *options) PACE_MUST_CHECK;

/** Of graphs that bring times along: `from` (NULL = not said) names the device that these are of, else they are taken
 * for those of the device that is asked about, with a warning. PACE_E_USAGE for a name where there are no times. */
pace_status pace_predict_inputs_place(pace_predict_inputs *inputs, pace_device_catalog *devices,
                                      const char *from) PACE_MUST_CHECK;
void pace_predict_inputs_free(pace_predict_inputs *inputs);
