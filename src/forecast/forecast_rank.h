/* What a forecast is made of, whatever it is made from. Private to forecast/. */
#pragma once

#include "forecast/forecast_data.h"

void pace_forecast_rank_free(pace_forecast_rank *rank);

/** The ladder of prices of the forecast's catalogue, and what remembers them. */
pace_status pace_forecast_make_ladder(pace_forecast *forecast) PACE_MUST_CHECK;
