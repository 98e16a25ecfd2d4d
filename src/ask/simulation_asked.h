/* A question about an exchange that is simulated message by message. */
#pragma once

#include "ask/engine_options.h"
#include "ask/exchange_words.h"
#include "schedule/simulation.h"

typedef struct {
    pace_machine machine;
    pace_simulation simulation;
    pace_simulation_question question;
    double *slowness;
    pace_backgrounds background;
    pace_sizes sizes;
    bool open;
    const char *collective; /* as asked for; NULL = none was named */
    pace_doubts doubts;
} pace_simulation_asked;

/** Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE, PACE_E_MISSING for an unknown machine. */
pace_status pace_simulation_ask(pace_simulation_asked *out, const pace_simulate_options *options) PACE_MUST_CHECK;
void pace_simulation_asked_free(pace_simulation_asked *asked);

/** A simulated time with its spread. */
pace_estimate pace_simulation_estimate(const pace_simulation_asked *asked, double time_s);
