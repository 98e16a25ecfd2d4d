/*
 * Where the first of the steps that are walked begins. A step counts what the host did behind the last launch of the
 * step before; of the first, nothing of that is in the graph.
 */
#pragma once

#include "forecast/forecast_data.h"

/** Lets the host pause for as long before its first operator, and the rank begin as much earlier. `mark` is the first
 * step's; NULL = none is annotated: nothing changes. */
void pace_first_step_begin(pace_forecast_rank *rank, const pace_mark *mark);
