/* What the host takes to issue a part of a step, where no more is known of a framework than its operators. */
#pragma once

#include "cost/host_costs_measure.h"
#include "exchange/exchange.h"
#include "model/config.h"

/* Host costs of a way to run (catalog/frameworks.yaml), as a walk takes them. */
typedef struct {
    pace_host_costs costs;
    pace_launch_costs launch;
    int execution;
    char vendor[16];
    int generation;
} pace_step_host;

typedef struct {
    PACE_VEC(pace_step_host *) items;
} pace_step_hosts;

void pace_step_hosts_free(pace_step_hosts *hosts);

/** The host costs of an execution beside a device, read once for all that share them. Borrowed. */
pace_status pace_step_hosts_get(const pace_step_host **out, pace_catalog *catalog, pace_step_hosts *hosts,
                                int execution, const pace_device *device) PACE_MUST_CHECK;

/** Seconds the host takes to issue a graph when no device holds it up: the graph walked with kernels of no time; and
 * until it issues the last exchange of gradients, 0 where there is none. Of a captured graph 0: one call issues all of
 * a step. An optimizer visits so many `parameters`. */
pace_status pace_step_host_s(double *out_s, double *gradients_s, const pace_step_host *host, const pace_graph *graph,
                             double parameters) PACE_MUST_CHECK;

/** The same, and when the device has done all if its launches take `launch_ns`: of a captured graph 0. */
pace_status pace_step_host_and_device_s(double *host_s, double *device_s, const pace_step_host *host,
                                        const pace_graph *graph, const double *launch_ns) PACE_MUST_CHECK;

/** Nanoseconds that the host of a rank takes to update one parameter: ranks of a node share its processors. */
double pace_step_host_update_ns(const pace_config *config, const pace_exchange *exchange, const pace_doubts *doubts);
