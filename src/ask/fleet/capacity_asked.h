/* What a cluster's GPUs were used for, and which could not be: the answer to tables of nodes and pods. */
#pragma once

#include "fleet/capacity.h"
#include "machine/catalog.h"

typedef struct {
    const char *paths[2]; /* of nodes, of pods; borrowed */
    uint64_t bytes[2];    /* as stored */
    pace_cluster cluster;
    pace_capacity found;
} pace_capacity_asked;

/** Errors: those of pace_cluster_read_nodes(), _pods() (ask/rows/cluster_rows.h). Free `out` after a failure too. */
pace_status pace_capacity_ask(pace_capacity_asked *out, pace_catalog *catalog, const char *pods_path,
                              const char *nodes_path) PACE_MUST_CHECK;
void pace_capacity_asked_free(pace_capacity_asked *asked);
