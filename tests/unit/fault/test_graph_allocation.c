/* Every allocation of the graph readers and writers fails once: each time with a status and nothing left behind. */
#include "source/traces/chakra.h"
#include "source/traces/execution_trace.h"
#include "source/graphs/graph_from_step.h"
#include "catalog_of_tests.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmocka_of_tests.h"

static char bytes[1 << 16];
static size_t length;

static bool load(const char *file) {
    const char *source = getenv("PACELINE_SOURCE");
    char path[512];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", source ? source : ".", file);
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    length = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    return true;
}

static int discard(void *context, const void *data, size_t size) {
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static pace_status trace(void) {
    pace_input *input;
    pace_graph graph;
    pace_trace_ids ids;
    PACE_TRY(pace_input_open_memory(&input, "trace", bytes, length));
    pace_status status = pace_execution_trace_read(&graph, &ids, input);
    pace_input_free(input);
    if (status != PACE_OK) return status;
    status = pace_chakra_write(&graph, discard, NULL);
    pace_trace_ids_free(&ids);
    pace_graph_free(&graph);
    return status;
}

static pace_status chakra(void) {
    pace_input *input;
    pace_graph graph;
    pace_read_notes notes;
    PACE_TRY(pace_input_open_memory(&input, "chakra", bytes, length));
    pace_status status = pace_chakra_read(&graph, &notes, input);
    pace_input_free(input);
    if (status == PACE_OK) pace_graph_free(&graph);
    return status;
}

static pace_status chakra_json(void) {
    pace_input *input;
    pace_graph graph;
    pace_read_notes notes;
    PACE_TRY(pace_input_open_memory(&input, "chakra", bytes, length));
    pace_status status = pace_chakra_read_json(&graph, &notes, input);
    pace_input_free(input);
    if (status == PACE_OK) pace_graph_free(&graph);
    return status;
}

static pace_status measured(void) {
    static const char text[] =
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9,\"args\":{\"Input Dims\":"
        "[[4,4],[4,4]],\"Input type\":[\"float\",\"float\"]}},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
        "\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":2,\"args\":{\"correlation\":1}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sgemm\","
        "\"pid\":0,\"tid\":7,\"ts\":6,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},{\"ph\":\"X\",\"cat\":"
        "\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":8,\"ts\":9,\"dur\":2,\"args\":{\"device\":0,"
        "\"stream\":8}}]";
    pace_input *input;
    pace_read_notes notes;
    pace_step step;
    pace_graph graph;
    PACE_TRY(pace_input_open_memory(&input, "measured", text, sizeof text - 1));
    pace_status status = pace_kineto_read(&step, input, &notes, (pace_progress){0});
    pace_input_free(input);
    if (status != PACE_OK) return status;
    status = pace_graph_from_step(&graph, test_catalog(), &step, INT64_MIN, INT64_MAX);
    if (status == PACE_OK) pace_graph_free(&graph);
    pace_step_free(&step);
    return status;
}

static void fail_each(pace_status (*run)(void)) {
    int64_t alive = pace_memory_live();
    for (uint64_t n = 1;; n++) {
        pace_memory_fail_at(n);
        pace_status status = test_catalog_open();
        if (status == PACE_OK) status = run();
        pace_memory_fail_at(0);
        test_catalog_close();
        if (pace_memory_live() != alive) fail_msg("allocation %u leaves blocks behind", (unsigned)n);
        if (status == PACE_OK) {
            assert_true(n > 10);
            return;
        }
        assert_int_equal(status, PACE_E_MEMORY);
        assert_true(n < 100000);
    }
}

TEST(traces) {
    if (!load("execution_trace/attributes.json")) skip();
    fail_each(trace);
    assert_true(load("execution_trace/flat.json"));
    fail_each(trace);
}

TEST(chakra_traces) {
    if (!load("chakra/whole.et")) skip();
    fail_each(chakra);
    assert_true(load("chakra/small.json"));
    fail_each(chakra_json);
}

TEST(measured_steps) { fail_each(measured); }

int main(void) { return run_tests_of_file(NULL, NULL); }
