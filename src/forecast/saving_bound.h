/*
 * What a what-if can save at most: the walk knows one figure for each operator, the replay of the recorded step every
 * delay. Where the walk saves more than the replay does without all that the what-if acts on, the step takes what the
 * replay leaves. Remedies (remedies.h) and what-ifs of predict obey it.
 */
#pragma once

#include "forecast/forecast.h"
#include "forecast/what_ifs.h"
#include "insight/critical.h"

/** What several what-ifs together can save of the mean of the walked `steps` (NULL = all), as a share: what the step of
 * the path would be shorter by, and what the mean has more of than it. `acts_on` has a bit (1 << pace_advice) for
 * each resource that one of them acts on. `count` sets, one answer each. Errors: those of pace_critical_without(). */
pace_status pace_saving_bounds(double *at_most_share, const pace_critical *critical, const pace_analysis *analysis,
                               const pace_rank *rank, const char *steps, const unsigned *acts_on,
                               size_t count) PACE_MUST_CHECK;

/** Resources that a scenario of a recorded step acts on; 0 = anything, or nothing: it is not bounded. */
unsigned pace_scenario_acts_on(const pace_scenario *scenario);

/** Times as many samples as the recorded step has that one of `batch` samples takes; 1 where either is unknown (0). */
double pace_saving_samples(double batch, const pace_forecast_edits *edits);

/** Lengthens a step that saves more than its bound of `now_s`, the walked step as it is, and widens its interval by as
 * much, though no further than to the step as it is; false = it does not. */
bool pace_saving_hold(pace_estimate *step_s, double now_s, double samples, double at_most_share);
