/*
 * A step elsewhere: the graph of what its ranks do, priced and walked under a scenario, and understood like a
 * measured one.
 *
 * A forecast is made of a measured analysis, or of graphs that have no times. Running it gives an analysis on which
 * everything works that works on a trace: matrix, critical path, advice.
 */
#pragma once

#include "forecast/forecast_data.h"

/** What a measured analysis says of its ranks' graphs and host costs; `measured` must outlive it. Overheads of the
 * trace are used as they are. Of `steps` ("3:4", insight/steps/step_choice.h; NULL = all) it is the same as of an
 * analysis of these alone. */
pace_status pace_forecast_of_analysis(pace_forecast *out, const pace_analysis *measured,
                                      const char *steps) PACE_MUST_CHECK;

/** The mean step that was measured, ns; without steps the trace's span. Of the slowest rank. */
double pace_forecast_rank_measured_ns(const pace_forecast_rank *rank);
double pace_forecast_measured_ns(const pace_forecast *forecast);

/** What the replay misses of the recording, as a logarithm; 0 where first uses were left out of it, or nothing was
 * measured. */
double pace_forecast_gap(const pace_forecast *forecast, double replayed_s);

/** Of sound graphs (pace_graph_check()) that have no times (taken, whatever comes of it; names are borrowed), one per
 * rank, on a device, with the host costs of a mode of catalog/frameworks.yaml. The step is repeated until it has
 * settled. */
pace_status pace_forecast_of_graphs(pace_forecast *out, pace_catalog *catalog, pace_graph *graphs, size_t count,
                                    const char *const *names, const pace_device *device,
                                    const char *mode) PACE_MUST_CHECK;
void pace_forecast_free(pace_forecast *forecast);

/** Every rank's host costs become these (copied); of a trace of the host alone those it would have with a device. */
pace_status pace_forecast_share_costs(pace_forecast *forecast, const pace_host_costs *costs) PACE_MUST_CHECK;

/** How many of the top-level operators of all ranks have host costs of each level. */
pace_status pace_forecast_host_levels(size_t out[PACE_HOST_LEVELS], const pace_forecast *forecast) PACE_MUST_CHECK;

/** Gives a forecast of a trace of the host alone its operators as kernels, for scenarios with a device: their host
 * costs are those of a mode of catalog/frameworks.yaml; on a CPU they do their work themselves. PACE_E_INPUT when no
 * operator says what it computes. */
pace_status pace_forecast_offload(pace_forecast *forecast, const pace_device *device, const char *mode) PACE_MUST_CHECK;

/** Gives a forecast of a trace with device work its kernels as work of the host's operators, for scenarios on a CPU: an
 * operator returns when its work is done. Host costs stay the trace's, calls of the runtime cost what a call costs in
 * catalog/frameworks.yaml. */
pace_status pace_forecast_onload(pace_forecast *forecast) PACE_MUST_CHECK;

/** Adds the kernels of all ranks to the times of their families, moved to a device (NULL = as they are) by the ladder
 * of `cost`, which need not be the forecast's own. */
pace_status pace_forecast_pair_times(pace_pair_times times[PACE_OP_FAMILIES], const pace_forecast *forecast,
                                     const pace_cost *cost, const pace_device *device) PACE_MUST_CHECK;

/** Edits, prices, walks and checks (self_check.h). Errors: PACE_E_INPUT as pace_walk(), and for an edit that finds
 * nothing to change; PACE_E_INTERNAL when a check fails. */
pace_status pace_forecast_run(pace_forecast_result *out, const pace_forecast *forecast,
                              const pace_scenario *scenario) PACE_MUST_CHECK;
void pace_forecast_result_free(pace_forecast_result *result);
