/* What every launch of a rank takes under a scenario. Private to the forecast. */
#ifndef PACE_INSIGHT_FORECAST_PRICE_H
#define PACE_INSIGHT_FORECAST_PRICE_H

#include "insight/forecast.h"

/** Fills launch_ns (one per launch of the rank's graph) and adds to the families' sums. */
pace_status pace_forecast_price(double *launch_ns, pace_forecast_family *families, const pace_forecast *forecast,
                                const pace_forecast_rank *rank, const pace_scenario *scenario) PACE_MUST_CHECK;

#endif
