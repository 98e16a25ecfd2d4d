/* The headline of a model's step. */
#pragma once

#include "ask/predict/step_ask.h"
#include "plan/step_rate.h"
#include "report/report.h"

typedef struct {
    char text[96];
} pace_shown_rate;

/** "412 tokens/s per device (MFU 41.2 % of the bf16 peak)" */
pace_shown_rate pace_show_step_rate(pace_step_rate rate);

/** The headline of a model's step: its time and interval, on what, and its rate, which is returned. */
pace_step_rate pace_put_step_takes(pace_node *root, const pace_step_asked *step, pace_estimate time_s);
