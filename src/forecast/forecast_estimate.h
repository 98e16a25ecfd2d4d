/* What a walked forecast says of its step: seconds, their spread, and what it rests on. */
#pragma once

#include "forecast/forecast_data.h"

/** Shares of the critical path times the spread of what stands on it, and the walk's own error (DESIGN §1). */
pace_status pace_forecast_estimate(pace_forecast_result *result, const pace_forecast *forecast,
                                   const pace_scenario *scenario) PACE_MUST_CHECK;

/** Ranks are walked alike: that they are not adds what the slowest takes longer, and the uncertainty of both. */
void pace_forecast_add_exchange(pace_forecast_result *result, const pace_forecast *forecast,
                                const pace_scenario *scenario);

/** What a replay misses of its recording (pace_forecast_gap()) it misses of every what-if: the interval holds it. */
void pace_forecast_doubt_replay(pace_forecast_result *result, double gap);

/** The mean device time of a rank's steps that did work, ns; without steps its span. Those before `first` count not. */
double pace_mean_step_ns(const pace_rank *rank, size_t first);

/** The slowest rank's. */
double pace_analysis_step_ns(const pace_analysis *analysis, size_t first);
