/* What a walk, and what matches ranks for one, is given of each rank and of all. */
#pragma once

#include "cost/host_costs.h"
#include "step/graph.h"

typedef struct {
    const pace_graph *graph;
    const double *launch_ns; /* one per launch of the graph: how long it takes; an exchange: from the last arrival */
    const pace_host_costs *costs;
    double launch_lag_ns;                  /* from the start of a launching call to its kernel's on an idle stream */
    double between_ns;                     /* between kernels that follow at once on a stream */
    double graph_lag_ns, graph_between_ns; /* so much more where one call issues several */
    double parameters;                     /* that its optimizer visits; 0 = as many as the graph forms gradients of */
    double start_ns;                       /* when the rank begins, on a clock of all ranks */
    uint32_t queue; /* the host waits before it issues more work of stream 0 than this ahead of it; 0 = it never does */
} pace_walk_rank;

typedef struct {
    double scale[PACE_OVERHEAD_TYPES]; /* of each type of overhead: 1 = as it is, 0 = dropped */
    bool one_launch;  /* captured graphs: the host launches with one call what lies between two of its waits */
    unsigned repeats; /* of the step, at least 1; the device's queue lives on from one to the next */
} pace_walk_options;
