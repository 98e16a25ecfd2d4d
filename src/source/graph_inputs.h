/* Files that hold a step without times, whatever their format. */
#ifndef PACE_SOURCE_GRAPH_INPUTS_H
#define PACE_SOURCE_GRAPH_INPUTS_H

#include "source/kineto.h"
#include "step/graph.h"

typedef enum {
    PACE_INPUT_TRACE,           /* times: a profiler's trace, or what else it may be */
    PACE_INPUT_EXECUTION_TRACE, /* PyTorch's execution graph or trace, JSON */
    PACE_INPUT_CHAKRA,          /* Chakra's protobuf */
    PACE_INPUT_CHAKRA_JSON,
    PACE_INPUT_MODEL, /* a description in YAML */
} pace_input_kind;

/** What a file or standard input holds, from its first bytes and members; what cannot be told is a trace. PACE_E_IO
 * when it cannot be opened. */
pace_status pace_input_kind_of(pace_input_kind *out, const char *path) PACE_MUST_CHECK;

/** Reads a file of a kind other than PACE_INPUT_TRACE. Free with pace_graph_free(). */
pace_status pace_graph_read(pace_graph *out, pace_read_notes *notes, pace_input_kind kind,
                            const char *path) PACE_MUST_CHECK;

#endif
