/* Host costs of frameworks from the catalogue (frameworks.yaml), for steps that no trace was measured of. */
#pragma once

#include "cost/host_costs_measure.h"
#include "machine/device.h"

/** Pools into `costs` the host costs of an execution mode ("eager", "compiled", "cuda-graph"; NULL = eager) by operator
 * and call, as hosts of this device have them, and sets `launch` to that of its vendor's devices (NULL = any device).
 * Each figure counts as one sample. PACE_E_USAGE for an unknown mode (the message lists them), PACE_E_INPUT for a bad
 * catalogue, with line and column. */
pace_status pace_host_costs_default(pace_host_costs *costs, pace_launch_costs *launch, pace_catalog *catalog,
                                    const char *mode, const pace_device *device) PACE_MUST_CHECK;

/** Sets what a recording does not show (NAN) of its launches to what they take elsewhere: a host that was never ahead
 * does not show how soon kernels follow each other, one that always was not how soon a launch reaches the device.
 * Where no launch is known, nothing is. */
pace_status pace_launch_costs_complete(pace_launch_costs *launch, pace_catalog *catalog) PACE_MUST_CHECK;

/* What a framework's host takes for an exchange, seconds: to call it, and for each tensor of a list. */
typedef struct {
    double call_s, copy_s;
} pace_exchange_call;

pace_status pace_exchange_call_load(pace_exchange_call *out, pace_catalog *catalog) PACE_MUST_CHECK;

/* The whole cost of recording an event is about `ratio` times the quantile of the shortest events' times. */
typedef struct {
    double quantile, ratio, spread;
} pace_profiler_figures;

pace_status pace_profiler_figures_load(pace_profiler_figures *out, pace_catalog *catalog) PACE_MUST_CHECK;
