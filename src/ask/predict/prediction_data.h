/* What `predict` finds of one step: as it is and under every what-if. */
#pragma once

#include "ask/predict/predict_inputs.h"
#include "ask/predict/scenarios.h"
#include "ask/predict/step_ask.h"
#include "forecast/pair_calibration.h"
#include "insight/evidence.h"
#include "plan/memory_over_time.h"

typedef struct {
    pace_device_catalog devices; /* of the scenarios */
    pace_predict_inputs inputs;
    pace_scenarios scenarios;
    pace_step_asked step; /* of a model */
    bool is_model;
    bool is_framed; /* a model's step that is answered in closed form, and whose what-ifs are walked */
    pace_predict_fits fits;
    double fit_factor; /* what a fit of steps, or a closed form that answers, makes of a walked step; else 1 */
    pace_pair_calibration calibration;
    bool shared;                   /* host costs of other runs */
    pace_forecast_result *results; /* one per scenario */
    size_t result_count;
    bool is_folded; /* a model's step of which rounds of micro-batches were left out (pace_step_fold) */
    bool is_cut;    /* and what cannot be told of these is not the whole step's, which is too large to be walked */
    pace_catalog *catalog;                /* shared with the context: what is drawn may be walked once that is gone */
    pace_forecast_result *whole;          /* where that is shown whole: its walk; NULL = it was not yet asked for */
    pace_memory_series memory;            /* of a model's pipeline: what its stages hold as the step goes on */
    pace_evidence evidence;               /* what the recording lacks */
    char gap[256];                        /* the same, for the first line; "" = nothing */
    size_t host_levels[PACE_HOST_LEVELS]; /* operators by how their host costs were found */
    double replay_error;                  /* of a recording, as a share */
    size_t first_uses;                    /* of a recording without steps: left out of its replay */
} pace_prediction;
