/* What a predicted step says of the exchange of its gradients. */
#pragma once

#include "forecast/forecast.h"
#include "report/report.h"

/** A sentence, and for programs an object, where ranks exchange gradients by an approach that was named; where one was
 * named and nothing is exchanged, a warning. */
void pace_put_gradients(pace_report *report, const pace_scenario *scenario, const pace_forecast_result *result);

/** The mean matrix of the slowest rank's steps, with what it waits for the slowest of ranks that are not alike. */
void pace_predicted_matrix(pace_matrix *out, const pace_forecast_result *result);
