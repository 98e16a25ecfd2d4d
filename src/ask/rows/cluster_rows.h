/*
 * Tables of a cluster's nodes and of the pods that ran on it, as Alibaba's cluster-trace-gpu-v2023 has them.
 */
#pragma once

#include "base/input.h"
#include "fleet/capacity.h"
#include "machine/catalog.h"

/** Nodes: cpu_milli, memory_mib, gpu (how many), model; pods: cpu_milli, memory_mib, num_gpu, gpu_milli, creation_time,
 * deletion_time, scheduled_time (seconds; empty = never) and gpu_spec (a model, several as "A|B", of which the first
 * counts; empty = any). Nodes are read first, so that models are known. Errors: PACE_E_INPUT with file and line: a
 * column missing, a number that is none or cannot be, a model that no node has. */
pace_status pace_cluster_read_nodes(pace_cluster *cluster, pace_catalog *catalog, pace_input *input) PACE_MUST_CHECK;
pace_status pace_cluster_read_pods(pace_cluster *cluster, pace_catalog *catalog, pace_input *input) PACE_MUST_CHECK;
