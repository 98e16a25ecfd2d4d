/*
 * What an optimizer's step spends before its first call of the runtime: it visits every parameter, so that its T2 is a
 * line over their number. Fitted by least squares of relative errors to (parameters, T2) of measured workloads.
 */
#pragma once

#include "step/graph.h"

/* Sums over points; all 0 = none yet. */
typedef struct {
    double n, x, y, xx, xy, least;
} pace_optimizer_line;

/** `parameters` are tensors, `ns` what the step of a workload that has them spends; points of 0 or less are left out.
 */
void pace_optimizer_line_add(pace_optimizer_line *line, double parameters, double ns);

/** All points of `more` as well. */
void pace_optimizer_line_pool(pace_optimizer_line *line, const pace_optimizer_line *more);

/** ns at a number of parameters, at least half of the least point; 0 = the points are too few or too near each other.
 */
double pace_optimizer_line_at(const pace_optimizer_line *line, double parameters);

bool pace_is_optimizer_step(const char *name);

/** How many parameters a graph's optimizer steps: gradients are accumulated once per parameter and micro-batch (of a
 * graph that does not say how many, per step). 0 = unknown. */
pace_status pace_optimizer_parameters(double *out, const pace_graph *graph) PACE_MUST_CHECK;
