/* Parts of the report of a prediction: what what-ifs change, exchange of gradients, memory, stages of a pipeline. */
#pragma once

#include "ask/predict/prediction.h"
#include "report/report.h"

/** A table with a row for each scenario, and sentences on those that assume something. */
void pace_put_edits(pace_report *report, const pace_graph *graph, const pace_scenario *scenarios,
                    const pace_forecast_result *results, size_t count);

/** A sentence, and for programs an object, where ranks exchange gradients by an approach that was named; where one was
 * named and nothing is exchanged, a warning. */
void pace_put_gradients(pace_report *report, const pace_scenario *scenario, const pace_forecast_result *result);

/** The mean matrix of the slowest rank's steps, with what it waits for the slowest of ranks that are not alike. */
void pace_predicted_matrix(pace_matrix *out, const pace_forecast_result *result);

/** Leads with the first that does not fit, which makes the answer no; warns where that is not known. */
pace_status pace_put_what_if_fit(pace_report *report, pace_prediction *prediction,
                                 pace_context *context) PACE_MUST_CHECK;

/** Adds them, of the walk whose ranks are the stages; nothing for a step of one stage. */
pace_status pace_put_stages(pace_report *report, const pace_analysis *walked,
                            const pace_step_asked *step) PACE_MUST_CHECK;

/** What stages hold as the step goes on: a curve each, and the instants for JSON. Nothing where there is one stage. */
void pace_put_stage_memory(pace_report *report, const pace_memory_series *memory, double device_bytes);
