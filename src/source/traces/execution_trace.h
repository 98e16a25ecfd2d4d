/*
 * Reads a PyTorch execution trace (execution graph), JSON schemas 1.0.0 to 1.1.1, plain, gzip or zstd, into a graph.
 *
 * Nodes come in order of id, which is the order of issue; the profiler's own process and thread nodes become threads. A
 * trace has no kernels: each operator that works on device memory and has no operator below it that does gets a launch,
 * or several, with the operations its shapes make (step/op_call.h). Compute runs on stream 0, exchanges on stream 1;
 * what reads an exchange's memory, or comes after a wait for it, waits for it. An autograd thread starts after what its
 * caller issued before, and the caller's range ends after it.
 */
#pragma once

#include "base/input.h"
#include "step/graph.h"

/** What ties the nodes of a graph to records of the same run elsewhere: one per node of the graph. */
typedef struct {
    PACE_VEC(int64_t) id;     /* the node's own */
    PACE_VEC(int64_t) record; /* rf_id, -1 = none */
    uint64_t strays;          /* nodes whose parent is not in the file */
} pace_trace_ids;

/** Reads one trace to its end. `ids` may be NULL. PACE_E_INPUT with file and place for what is no such trace, for nodes
 * that hang in a circle and for schemas that are not known. Free with pace_graph_free() and pace_trace_ids_free(). */
pace_status pace_execution_trace_read(pace_graph *out, pace_trace_ids *ids, pace_input *input) PACE_MUST_CHECK;
void pace_trace_ids_free(pace_trace_ids *ids);
