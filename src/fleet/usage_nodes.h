/* Which job held a node at a time, of the nodes that schedulers list for runs. */
#pragma once

#include "base/intern.h"
#include "source/usage/usage_fields.h"

typedef struct {
    pace_name node, job, cluster;
    double start_s, end_s;
    double latest_s; /* end of this and of all of the node before it */
} pace_usage_hold;

/* Zero-initialise. */
typedef struct {
    PACE_VEC(pace_usage_hold) holds;
    bool sorted;
} pace_usage_nodes;

/** Adds the nodes of a list: "n[01-03,07],m5", "m1,m2". At most 65,536 of one list. PACE_E_MEMORY. */
pace_status pace_usage_nodes_add(pace_usage_nodes *nodes, pace_names *names, pace_usage_text list,
                                 const pace_usage_hold *hold) PACE_MUST_CHECK;

/** How many jobs held the node of a cluster, 2 for more; `*job` is the one. Clusters name their nodes by themselves. A
 * node is known without its domain ("n01.cluster:9400" is n01). */
int pace_usage_holder(pace_name *job, pace_usage_nodes *nodes, const pace_names *names, pace_name cluster,
                      pace_usage_text node, double at_s);

void pace_usage_nodes_free(pace_usage_nodes *nodes);
