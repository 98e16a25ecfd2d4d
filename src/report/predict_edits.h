/* What what-ifs found to change, and what they had to assume. */
#pragma once

#include "forecast/forecast.h"
#include "report/report.h"

/** A table with a row for each scenario, and sentences on those that assume something. */
void pace_put_edits(pace_report *report, const pace_graph *graph, const pace_scenario *scenarios,
                    const pace_forecast_result *results, size_t count);
