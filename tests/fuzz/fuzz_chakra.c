/*
 * Fuzz target of Chakra traces: any bytes, read as protobuf and as JSON, either fail with a message or give a graph
 * that keeps its invariants; such a graph, written, is read again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/traces/chakra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    unsigned char *bytes;
    size_t count;
} memory;

static int keep(void *context, const void *bytes, size_t length) {
    memory *to = context;
    unsigned char *more = realloc(to->bytes, to->count + length + 1);
    if (!more) return 12; /* ENOMEM */
    to->bytes = more;
    memcpy(to->bytes + to->count, bytes, length);
    to->count += length;
    return 0;
}

static void must(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "fuzz_chakra: status %d: %s\n", (int)status, pace_message());
    abort();
}

static void write_and_read(const pace_graph *graph) {
    memory written = {0};
    pace_input *input;
    pace_graph back;
    pace_read_notes notes;
    must(pace_chakra_write(graph, keep, &written));
    must(pace_input_open_memory(&input, "written", written.bytes, written.count));
    must(pace_chakra_read(&back, &notes, input));
    if (back.launches.count < graph->launches.count) abort();
    pace_graph_free(&back);
    pace_input_free(input);
    free(written.bytes);
}

static void try_reader(pace_status (*read)(pace_graph *, pace_read_notes *, pace_input *), const uint8_t *data,
                       size_t size) {
    pace_input *input;
    pace_graph graph;
    pace_read_notes notes;
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return;
    if (read(&graph, &notes, input) == PACE_OK) {
        must(pace_graph_check(&graph));
        write_and_read(&graph);
        pace_graph_free(&graph);
    } else if (!pace_message()[0]) {
        abort();
    }
    pace_input_free(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try_reader(pace_chakra_read, data, size);
    try_reader(pace_chakra_read_json, data, size);
    return 0;
}
