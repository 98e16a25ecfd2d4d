/* Copies and edits of graphs. */
#pragma once

#include "step/graph.h"

/** A graph of its own with the same nodes, launches and numbers. */
pace_status pace_graph_copy(pace_graph *out, const pace_graph *graph) PACE_MUST_CHECK;

/** Leaves launches out. `into[i]` is i for a launch that stays, else an earlier one that stays and now does its work:
 * whoever waited for the one waits for the other. Operators that have issued device work and do no more, neither
 * themselves nor within, leave too, unless something waits for them or they wait. The rest is numbered anew, in the
 * same order. `into` receives the new numbers (of the launch that stands for each). */
pace_status pace_graph_merge_launches(pace_graph *graph, uint32_t *into) PACE_MUST_CHECK;
