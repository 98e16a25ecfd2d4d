/*
 * A measured step as a graph, so that it can be walked anew: with its own kernel times, or priced for another device.
 *
 * Nodes are the operators and annotations that start in the interval, and the runtime calls that block or that no
 * operator makes. Launches are the device work that these issue, with measured durations; work that nothing is known
 * to have launched hangs under one node of a thread of its own. An operation is the launching operator's: of several
 * kernels the family's own share it by their durations or the longest has it, and the others are of the family that
 * their names tell, without amounts, to be priced from the time they took on the device of the trace.
 *
 * In a trace without a device the operators that work are launches for which their node waits (graph_host_work.c).
 *
 * Links that the trace does not name are those its times show: a stream that starts because another reached a point, a
 * call that returns because work ended, a thread that wakes because another went quiet.
 */
#pragma once

#include "step/graph.h"

/** The graph of what the host issued in [from_ns, to_ns). `step` must be finished. Free with pace_graph_free(). */
pace_status pace_graph_from_step(pace_graph *out, pace_catalog *catalog, const pace_step *step, int64_t from_ns,
                                 int64_t to_ns) PACE_MUST_CHECK;
