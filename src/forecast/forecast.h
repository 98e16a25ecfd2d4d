/*
 * A step elsewhere: the graph of what its ranks do, priced and walked under a scenario, and understood like a
 * measured one.
 *
 * A forecast is made of a measured analysis, or of graphs that have no times. Running it gives an analysis on which
 * everything works that works on a trace: matrix, critical path, advice.
 */
#ifndef PACE_FORECAST_FORECAST_H
#define PACE_FORECAST_FORECAST_H

#include "cost/cost.h"
#include "cost/host_costs_measure.h"
#include "cost/price_cache.h"
#include "insight/analysis.h"
#include "forecast/batch_size.h"
#include "forecast/pair_calibration.h"
#include "forecast/scenario.h"
#include "schedule/gradients.h"
#include "schedule/walk.h"

typedef struct {
    const char *name; /* of the input, borrowed */
    pace_graph graph;
    double *measured_ns; /* per launch, -1 = none; an exchange: from the last rank's arrival */
    pace_host_costs costs;
    pace_launch_costs launch;
    double start_ns; /* on a clock of all ranks */
} pace_forecast_rank;

typedef PACE_VEC(pace_forecast_rank) pace_forecast_ranks_vec;

typedef struct {
    pace_forecast_ranks_vec ranks;
    pace_forecast_ranks_vec offloaded; /* for scenarios with a device, where who does the work changes; else empty */
    pace_catalog *catalog;             /* borrowed */
    const pace_analysis *measured;     /* borrowed; NULL = made of graphs */
    const pace_device *device;         /* what the times were measured on; NULL = unknown */
    pace_cost *cost;
    pace_price_cache *prices;                 /* of it */
    const pace_pair_calibration *calibration; /* of moves between two devices; borrowed; NULL = none */
    pace_gradient_tables tables;              /* of embeddings, among the gradients; none = all are dense */
    pace_doubt host_doubt;                    /* of host costs that are not the inputs' own; PACE_DOUBTS = they are */
    unsigned repeats;                         /* of the step; with several the last one's period is the step's time */
} pace_forecast;

/** What a measured analysis says of its ranks' graphs and host costs; `measured` must outlive it. Overheads of the
 * trace are used as they are. */
pace_status pace_forecast_of_analysis(pace_forecast *out, const pace_analysis *measured) PACE_MUST_CHECK;

/** Of graphs that have no times (taken, whatever comes of it; names are borrowed), one per rank, on a device, with the
 * host costs of a mode of catalog/frameworks.yaml. The step is repeated until it has settled. */
pace_status pace_forecast_of_graphs(pace_forecast *out, pace_catalog *catalog, pace_graph *graphs, size_t count,
                                    const char *const *names, const pace_device *device,
                                    const char *mode) PACE_MUST_CHECK;
void pace_forecast_free(pace_forecast *forecast);

/** Every rank's host costs become these (copied); of a trace of the host alone those it would have with a device. */
pace_status pace_forecast_share_costs(pace_forecast *forecast, const pace_host_costs *costs) PACE_MUST_CHECK;

/** How many of the top-level operators of all ranks have host costs of each level. */
pace_status pace_forecast_host_levels(size_t out[PACE_HOST_LEVELS], const pace_forecast *forecast) PACE_MUST_CHECK;

/* How the time of kernels was come by, by operation family and for what nothing is known of. */
typedef struct {
    double kernel_ns;                   /* summed over launches */
    double spread_ns;                   /* the same times their spread */
    size_t launches;                    /* of these */
    size_t unknown;                     /* launches whose operation is unknown; exchanges are not among them */
    double unknown_ns;                  /* their time, part of kernel_ns */
    size_t guessed, guessed_of_tensors; /* launches whose time is a guess, and those by the tensors they touch */
    double guessed_ns;
    size_t by_rung[PACE_RUNGS];
} pace_forecast_family;

/* What a scenario's edits came to. */
typedef struct {
    pace_batch_size present; /* samples so far, of the first rank; 0 = not asked */
    size_t scaled_kernels;   /* whose time is scaled */
    size_t fused_kernels;    /* that became part of another */
    size_t fused_tables;     /* lookups that did */
    size_t dropped_types;    /* of overheads that some rank has and now does without */
} pace_forecast_edits;

/* How gradients were exchanged, where an approach was named. */
typedef struct {
    int64_t ranks;          /* that exchange; 0 = none do, or no approach was named */
    double alone_s;         /* the step without it; 0 = was not walked */
    double exchange_s;      /* with nothing to hide behind */
    double exposed_s;       /* what of all communication nothing hid, the whole step's */
    double skew_s;          /* waiting for the slowest of the ranks: beside the walk, whose ranks are alike */
    const char *bottleneck; /* of the lanes; static; NULL = buckets have none */
} pace_forecast_exchange;

typedef struct {
    pace_analysis analysis; /* of the walked steps */
    pace_estimate step_s;   /* of the slowest rank: mean of its steps, or the period it settles in; and the skew */
    pace_forecast_exchange exchange;
    pace_forecast_family families[PACE_OP_FAMILIES];
    pace_forecast_edits edits;
    size_t beyond; /* measured kernels faster than their device's roofline allows */
} pace_forecast_result;

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

/** The mean device time of a rank's steps that did work, ns; without steps its span. Those before `first` count not. */
double pace_mean_step_ns(const pace_rank *rank, size_t first);

/** The slowest rank's. */
double pace_analysis_step_ns(const pace_analysis *analysis, size_t first);

#endif
