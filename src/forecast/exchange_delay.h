/* What a walked step would take longer if its exchanges did: nothing while it hides them, all of it beyond. */
#pragma once

#include "forecast/forecast_data.h"

/** Communication that nothing hides in the last of the steps, of the slowest rank. */
double pace_exchange_exposed_s(const pace_forecast_result *result);

/** Of it that of each kind of group. */
void pace_exchange_exposed_by(double by_s[PACE_GROUPS], const pace_forecast_result *result);

/** Adds to a step's spread what it would take longer if its exchanges took as much longer as their doubts say: those
 * behind the last forward pass one after another from where each started, as far as computing does not hide them; at
 * least what is exposed as it is, so many times. `result->exchange.exposed_s` must be known. */
void pace_exchange_doubt_step(pace_forecast_result *result, const pace_scenario *scenario, const pace_doubts *doubts);

/** The mean matrix of the slowest rank's steps, with what it waits for the slowest of ranks that are not alike:
 * synchronous ranks wait where they exchange. */
pace_matrix pace_forecast_matrix(const pace_forecast_result *result);

/** Whether more than the exchanges of replicas is exposed: a hundredth of all that is, at least. */
bool pace_exposes_more(const pace_forecast_exchange *exchange);
