/*
 * Chakra execution traces (mlcommons/chakra, schema/protobuf/et_def.proto): a stream of length-delimited messages,
 * first GlobalMetadata, then Nodes; and the JSON form ("workload_graph") of the same nodes.
 *
 * A Chakra trace is a set of nodes that wait for each other. Those of the host (is_cpu_op) become nodes in an order
 * that keeps every dependency; the others become launches, issued by the last host node they depend on, or by the one
 * before them; where there is none, by one call for all, since nothing is said of the host. Computation runs on the
 * stream its "tid" names, else 0; collectives on 1, sends on 2, receives on 3.
 */
#pragma once

#include "source/traces/kineto.h"
#include "step/graph.h"

/** Reads the protobuf form, plain, gzip or zstd. PACE_E_INPUT names file and byte of what is no message or no node, and
 * nodes whose data dependencies are a circle. Control dependencies that contradict them, and dependencies on nodes that
 * are not there, are left out with a warning. */
pace_status pace_chakra_read(pace_graph *out, pace_read_notes *notes, pace_input *input) PACE_MUST_CHECK;

/** The JSON form. */
pace_status pace_chakra_read_json(pace_graph *out, pace_read_notes *notes, pace_input *input) PACE_MUST_CHECK;

/** Writes a graph in the protobuf form: nodes as host operators in order on their threads, launches with the amounts of
 * their operations, durations where known, and what they wait for. What the schema has no field for and the reader
 * takes back stands in attributes of our own: duration_ns, write_bytes, group_size, group_stride. docs/formats.md lists
 * what is lost. PACE_E_IO when writing fails. */
pace_status pace_chakra_write(const pace_graph *graph, pace_write_fn write, void *context) PACE_MUST_CHECK;
