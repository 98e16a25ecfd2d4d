/* The nodes and launches of a graph lane by lane, so that who walks one lane need not visit them all. */
#pragma once

#include "step/graph.h"

/* Numbers, lane after lane; those of lane i are items[first[i]] to items[first[i + 1] - 1], ascending. */
typedef struct {
    uint32_t *first, *items;
} pace_lane_lists;

typedef struct {
    pace_lane_lists nodes;    /* by thread */
    pace_lane_lists launches; /* by the thread of their node */
    pace_lane_lists kernels;  /* launches by stream */
} pace_graph_lanes;

/** Free with pace_graph_lanes_free(), also after a failure. */
pace_status pace_graph_lanes_of(pace_graph_lanes *out, const pace_graph *graph) PACE_MUST_CHECK;
void pace_graph_lanes_free(pace_graph_lanes *lanes);
