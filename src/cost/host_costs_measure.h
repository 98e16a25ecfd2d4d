/* Host costs as a measured step shows them, in the terms in which the walk spends them again. */
#pragma once

#include "cost/host_costs.h"
#include "step/graph.h"

/* How launches reach the device: medians over the launches that show them, NAN when none does. */
typedef struct {
    double lag_ns;                         /* from the start of a launching call to its kernel's on an idle stream */
    double between_ns;                     /* between kernels that follow at once on a stream */
    double graph_lag_ns, graph_between_ns; /* so much more where one call issues several, as a device graph does */
    uint32_t queue;                        /* launches that a device's queue holds; 0 = not known */
} pace_launch_costs;

/* Operators and calls that took far longer than others of their name: a context that is made, a library that is loaded,
 * kernels that are compiled. Only a trace without steps keeps them in its mean; a repeated step does not make them. */
typedef struct {
    size_t count;
    double total_ns, longest_ns;
    pace_name longest; /* of the graph */
} pace_first_uses;

/** Pools into `costs` every overhead of the graph's operators, of a graph made from `step`, and sets its nodes' pauses.
 * Waiting for the device, its full queue or another thread is no overhead and left out; nothing else is, so that means
 * and pauses give back the measured sums, unless `first_uses` is given (begins as zeros): then those are left out and
 * counted. */
pace_status pace_host_costs_measure(pace_host_costs *costs, pace_launch_costs *launch, pace_first_uses *first_uses,
                                    pace_graph *graph, const pace_step *step) PACE_MUST_CHECK;
