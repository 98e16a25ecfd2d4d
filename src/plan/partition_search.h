/*
 * The scalability optimizer of Yan et al. (KDD 2015): the best segments of each layer by dynamic programming over
 * layers, and the best replicas, workers, threads and servers around them (docs/partition.md).
 */
#pragma once

#include "plan/partition.h"

/* What is fixed; 0 (of servers: below 0) = searched. */
typedef struct {
    double replicas, workers, threads, servers;
    const double *segments; /* of each layer; NULL = searched */
} pace_partition_fixed;

typedef struct {
    pace_partition partition;
    pace_partition_time time;
} pace_partition_choice;

typedef struct {
    PACE_VEC(pace_partition_choice) choices; /* each way to share machines, with its best segments; fastest first */
    size_t tried, too_large;                 /* ways; those that memory forbids */
    size_t segmentations;                    /* entries that dynamic programming looked at */
} pace_partition_found;

/** Every way to share the machines; of those that differ only in servers, which make nothing faster, the one with
 * fewest. PACE_E_USAGE when a fixed one cannot be. Free `out`, also after a failure. */
pace_status pace_partition_search(pace_partition_found *out, const pace_partition_case *c,
                                  const pace_partition_fixed *fixed) PACE_MUST_CHECK;
void pace_partition_found_free(pace_partition_found *found);
