/* A scenario's edits of the graphs it runs. Private to the forecast. */
#pragma once

#include "forecast/forecast_data.h"
#include "forecast/variant.h"

/** The ranks a scenario runs: of a trace of the host alone, on a device, with its operators as kernels there. */
const pace_forecast_rank *pace_forecast_ranks(const pace_forecast *forecast, const pace_scenario *scenario);

/** Makes a variant of each rank (forecast->ranks.count of them) and edits it. On failure none is left. */
pace_status pace_forecast_edit(pace_variant *variants, pace_forecast_edits *edits, const pace_forecast *forecast,
                               const pace_scenario *scenario) PACE_MUST_CHECK;
