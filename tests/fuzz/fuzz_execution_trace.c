/*
 * Fuzz target of execution traces: any bytes either fail with a message or give a graph that keeps its invariants.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "source/traces/execution_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_input *input;
    pace_graph graph;
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_execution_trace_read(&graph, NULL, input) == PACE_OK) {
        if (pace_graph_check(&graph) != PACE_OK) abort();
        pace_graph_free(&graph);
    } else if (!pace_message()[0]) {
        abort();
    }
    pace_input_free(input);
    return 0;
}
