/*
 * Operators as a framework other than PyTorch runs them: what catalog/steps.yaml says of it, put on a lowered step. So
 * its steps are walked like PyTorch's; which figure is the answer says pace_step_is_walked().
 */
#pragma once

#include "forecast/forecast_data.h"
#include "plan/framework.h"

/** Gradients are formed where they are exchanged, in one exchange if none hides; one kernel updates all parameters. */
pace_config pace_step_frame_config(const pace_framework *framework, const pace_config *config);

/** Of a graph lowered so: gradients as wide as the framework keeps them, what its update reads and writes, and what
 * every step spends behind it. */
pace_status pace_step_frame_graph(pace_graph *graph, const pace_framework *framework,
                                  const pace_config *config) PACE_MUST_CHECK;

/** Of the forecast of such graphs: the host's time for each launch, what hides of exchanges. */
pace_status pace_step_frame_forecast(pace_forecast *forecast, const pace_framework *framework) PACE_MUST_CHECK;
