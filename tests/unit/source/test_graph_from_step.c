/* Measured steps as graphs: nothing is lost, times are kept, and what waited waits. */
#include "source/graphs/graph_from_step.h"
#include "source/inputs.h"
#include "source/traces/kineto.h"
#include "catalog_of_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

/* Forward on thread 1, backward on thread 2, then an update on thread 1 that reads a number back. Stream 7 computes,
 * stream 20 reduces the gradient once it is there; the update waits for the sum. */
static const char trace[] = "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-40GB\"}],\"traceEvents\":["
#define HOST(cat, name, tid, ts, dur, args)                                                                        \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{" args "}}"
#define DEVICE(cat, name, stream, ts, dur, args)                                                                      \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" stream ",\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"device\":0,\"stream\":" stream "," args "}}"
    HOST("user_annotation", "ProfilerStep#3", "1", "0", "1000", "") "," HOST(
        "python_function", "nn.Module: Net_0", "1", "5",
        "90", "") "," HOST("python_function", "nn.Module: Linear_1", "1", "6", "80",
                           "") "," HOST("cpu_op", "aten::mm", "1", "10", "40",
                                        "\"Input Dims\":[[64,32],[32,16]],\"Input type\":[\"float\",\"float\"]") "," HOST("cuda_runtime", "cudaLaunchKernel", "1", "15", "5", "\"correlation\":1") "," HOST("cuda_runtime", "cudaLaunchKernel", "1", "25", "5", "\"correlation\":2") "," HOST("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "2", "200", "100", "") "," HOST("cpu_op", "aten::frobnicate", "2", "210",
                                                                                                                                                                                                                                                                                                                                                                                            "30", "\"Input Dims\":[[64,16]],\"Input type\":[\"float\"]") "," HOST("cuda_runtime", "cudaLaunchKernel", "2",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "215",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "5", "\"correlation\":3") "," HOST("cpu_op", "nccl:all_reduce",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "2",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "260",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "30",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "\"Input Dims\":[[1000]],\"Input type\":[\"float\"]") "," HOST("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "cudaStreamWaitEvent",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "2",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "262", "1", "\"correlation\":90") "," HOST("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "cudaLaunchKernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "2", "265", "5", "\"correlation\":4") "," HOST("cpu_op",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "aten::add_",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "1",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "400",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "30",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "\"Input Dims\":[[1000],[1000]],\"Input type\":[\"float\",\"float\"]") "," HOST("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "cudaLaunchKernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "1", "410", "5", "\"correlation\":5") "," HOST("cpu_op", "aten::item", "1", "450", "100", "") "," HOST("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "cudaMemcpyAsync", "1",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "455", "5", "\"correlation\":6") "," HOST("cuda_runtime", "cudaStreamSynchronize", "1", "462", "80",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"correlation\":91") "," HOST("cuda_runtime",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "cudaGraphLaunch", "1",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "600", "10", "\"correlation\":7") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "ampere_sgemm_64x32", "7", "30", "20", "\"correlation\":1") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "void cublasLt::splitKreduce_kernel", "7", "50", "3", "\"correlation\":2") "," DEVICE("kernel", "unheard_of", "7", "225",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "75",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "\"correlation\":3") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "20",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "303",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "200",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "\"correlation\":4,\"Collective name\":\"allreduce\",\"In msg nelems\":1000,\"Group size\":4,"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "\"dtype\":\"Float\",\"Process Group Name\":\"7\"") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "vectorized_elementwise_kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "7",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "505", "5", "\"correlation\":5") "," DEVICE("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "7", "512", "20",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "\"correlation\":6,\"bytes\":4") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "triton_poi_fused", "7",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "620",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "4",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"correlation\":7") "," DEVICE("kernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "triton_poi_fused", "7", "625",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "4",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "\"correlation\":7") "]}";

static void read_bytes(pace_step *step, const char *text) {
    pace_input *input;
    pace_read_notes notes;
    assert_int_equal(pace_input_open_memory(&input, "test", text, strlen(text)), PACE_OK);
    assert_int_equal(pace_kineto_read(step, input, &notes, (pace_progress){0}), PACE_OK);
    pace_input_free(input);
}

static uint32_t find_node(const pace_graph *graph, const char *name) {
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (strcmp(pace_names_text(&graph->names, graph->nodes.items[i].name), name) == 0) return i;
    fail_msg("no node %s", name);
    return 0;
}

static const pace_op *op_of(const pace_graph *graph, uint32_t launch) {
    assert_int_not_equal(graph->launches.items[launch].op, PACE_NO_OP);
    return &graph->ops.items[graph->launches.items[launch].op];
}

static void what_a_step_holds(void **state) {
    (void)state;
    pace_step step;
    pace_graph graph;
    read_bytes(&step, trace);
    assert_int_equal(pace_graph_from_step(&graph, test_catalog(), &step, 0, 1000000), PACE_OK);
    assert_int_equal(pace_graph_check(&graph), PACE_OK);
    assert_string_equal(pace_names_text(&graph.names, graph.device_name), "NVIDIA A100-SXM4-40GB");
    uint32_t mark = find_node(&graph, "ProfilerStep#3"), mm = find_node(&graph, "aten::mm");
    uint32_t backward = find_node(&graph, "autograd::engine::evaluate_function: MmBackward0");
    uint32_t reduce = find_node(&graph, "nccl:all_reduce"), add = find_node(&graph, "aten::add_");
    uint32_t sync = find_node(&graph, "cudaStreamSynchronize"), whole = find_node(&graph, "cudaGraphLaunch");
    const pace_graph_node *nodes = graph.nodes.items;
    const pace_launch *launches = graph.launches.items;
    assert_int_equal(graph.nodes.count, 9);
    assert_int_equal(graph.launches.count, 8);
    assert_int_equal(graph.thread_count, 2);
    assert_int_equal(graph.stream_count, 2);
    assert_int_equal(nodes[mark].kind, PACE_TASK_ANNOTATION);
    assert_int_equal(nodes[mm].parent, mark);
    assert_string_equal(pace_names_text(&graph.names, nodes[mm].module), "Net_0.Linear_1");
    assert_int_equal(nodes[reduce].parent, backward);
    assert_int_equal(nodes[backward].after, mm);
    assert_int_equal(nodes[add].after, backward);
    assert_int_equal(nodes[sync].waits_launch, 5);
    assert_int_equal(nodes[sync].parent, find_node(&graph, "aten::item"));
    assert_int_equal(nodes[whole].kind, PACE_TASK_CALL);

    const pace_op *gemm = op_of(&graph, 0);
    assert_int_equal(gemm->family, PACE_OP_GEMM);
    assert_true(gemm->flop == 2.0 * 64 * 32 * 16);
    assert_int_equal(op_of(&graph, 1)->family, PACE_OP_GEMM); /* splitKreduce: of the family, without amounts */
    assert_true(op_of(&graph, 1)->flop == 0);
    assert_int_equal(graph.unknown_ops, 1);
    assert_int_equal(launches[3].stream, 1);
    assert_int_equal(launches[3].waits[0], 2);
    const pace_graph_exchange *exchange = &graph.exchanges.items[launches[3].exchange - 1];
    assert_string_equal(pace_names_text(&graph.names, exchange->collective), "allreduce");
    assert_true(exchange->bytes == 4000 && exchange->group_size == 4);
    assert_int_equal(launches[4].waits[0], 3); /* the update started when the sum was there */
    assert_string_equal(op_of(&graph, 5)->kind, "d2h_pageable");
    assert_true(!launches[6].same_call && launches[7].same_call);
    for (uint32_t i = 0; i < 8; i++) assert_true(launches[i].duration_ns > 0);
    assert_int_equal(launches[3].duration_ns, 200000);
    pace_graph_free(&graph);
    pace_step_free(&step);
}

static void an_interval_holds_what_starts_in_it(void **state) {
    (void)state;
    pace_step step;
    pace_graph graph;
    read_bytes(&step, trace);
    assert_int_equal(pace_graph_from_step(&graph, test_catalog(), &step, 200000, 400000), PACE_OK);
    assert_int_equal(pace_graph_check(&graph), PACE_OK);
    assert_int_equal(graph.nodes.count, 3);
    assert_int_equal(graph.launches.count, 2);
    assert_int_equal(graph.thread_count, 1);
    pace_graph_free(&graph);
    pace_step_free(&step);
}

/* The names of kernels tell the gradients apart, else their order does; what only prepares them has no amounts. */
static void gradients_of_a_convolution(void **state) {
    (void)state;
    static const char *const kernels[][3] = {{"nchwToNhwcKernel", "sm80_xmma_wgrad_implicit_gemm",
                                              "sm80_xmma_dgrad_implicit_gemm"},
                                             {"nchwToNhwcKernel", "cudnn_implicit_convolve_a",
                                              "cudnn_implicit_convolve_b"}};
    for (int named = 0; named < 2; named++) {
        char text[4096];
        int length = snprintf(text, sizeof text, "[%s",
                              HOST("cpu_op", "aten::convolution_backward", "1", "0", "100",
                                   "\"Input Dims\":[[8,16,32,32],[8,4,32,32],[16,4,3,3],[],[],[],[]],"
                                   "\"Input type\":[\"float\",\"float\",\"float\"],\"Concrete Inputs\":[\"\",\"\",\"\","
                                   "\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\"]"));
        for (int i = 0; i < 3; i++)
            length +=
                snprintf(text + length, sizeof text - (size_t)length,
                         ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
                         "\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                         "\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,"
                         "\"correlation\":%d}}",
                         10 + 20 * i, i + 1, kernels[named][i], 200 + 50 * i, 10 + 10 * i, i + 1);
        snprintf(text + length, sizeof text - (size_t)length, "]");
        pace_step step;
        pace_graph graph;
        read_bytes(&step, text);
        assert_int_equal(pace_graph_from_step(&graph, test_catalog(), &step, 0, 1000000), PACE_OK);
        assert_int_equal(graph.launches.count, 3);
        const double once = 2.0 * 8 * 16 * 32 * 32 * 4 * 9;
        assert_true(op_of(&graph, 0)->flop == 0);
        assert_int_equal(op_of(&graph, 1)->pass, named ? PACE_PASS_BACKWARD_DATA : PACE_PASS_BACKWARD_WEIGHT);
        assert_int_equal(op_of(&graph, 2)->pass, named ? PACE_PASS_BACKWARD_WEIGHT : PACE_PASS_BACKWARD_DATA);
        assert_true(op_of(&graph, 1)->flop == once && op_of(&graph, 2)->flop == once);
        pace_graph_free(&graph);
        pace_step_free(&step);
    }
}

static void check_trace(const char *path) {
    pace_input *input;
    pace_read_notes notes;
    pace_step step;
    pace_graph graph;
    assert_int_equal(pace_input_open(&input, path), PACE_OK);
    assert_int_equal(pace_kineto_read(&step, input, &notes, (pace_progress){0}), PACE_OK);
    pace_input_free(input);
    if (pace_graph_from_step(&graph, test_catalog(), &step, INT64_MIN, INT64_MAX) != PACE_OK)
        fail_msg("%s: %s", path, pace_message());
    if (pace_graph_check(&graph) != PACE_OK) fail_msg("%s: %s", path, pace_message());
    int64_t busy = 0, kept = 0;
    size_t tasks = 0;
    for (uint32_t i = 0; i < step.count; i++)
        if (pace_task_on_device(step.kind[i])) busy += pace_task_ns(&step, i), tasks++;
    for (size_t i = 0; i < graph.launches.count; i++) kept += graph.launches.items[i].duration_ns;
    if (tasks > 0 && (tasks != graph.launches.count || busy != kept))
        fail_msg("%s: %zu of %zu device tasks, %lld of %lld ns", path, graph.launches.count, tasks, (long long)kept,
                 (long long)busy);
    pace_graph_free(&graph);
    pace_step_free(&step);
}

/* Five steps of a GPT on a CPU: 4 layers of width 256, 2,048 words, 512 tokens a step. Its products are six operations
 * a token and weight, 12 width^2 weights a layer and the words' (Kaplan et al. 2020), wherever it runs. */
static void a_host_is_its_own_device(void **state) {
    (void)state;
    const char *source = getenv("PACELINE_SOURCE");
    char path[512];
    pace_input *input;
    pace_read_notes notes;
    pace_step step;
    pace_graph graph;
    if (!source) skip();
    snprintf(path, sizeof path, "%s/tests/data/demo.json.gz", source);
    assert_int_equal(pace_input_open(&input, path), PACE_OK);
    assert_int_equal(pace_kineto_read(&step, input, &notes, (pace_progress){0}), PACE_OK);
    pace_input_free(input);
    assert_int_equal(pace_graph_from_step(&graph, test_catalog(), &step, INT64_MIN, INT64_MAX), PACE_OK);
    assert_int_equal(pace_graph_check(&graph), PACE_OK);
    double flop = 0, weights = 4 * 12 * 256.0 * 256 + 256.0 * 2048;
    int64_t took = 0, longest = 0;
    for (uint32_t i = 0; i < graph.launches.count; i++) {
        const pace_launch *launch = &graph.launches.items[i];
        if (op_of(&graph, i)->family == PACE_OP_GEMM) flop += op_of(&graph, i)->flop;
        assert_true(launch->duration_ns >= 0 && launch->duration_ns <= pace_task_ns(&step, launch->task));
        assert_int_equal(graph.nodes.items[launch->node].task, launch->task);
        took += launch->duration_ns;
    }
    for (uint32_t i = 0; i < step.count; i++)
        if (pace_step_end_ns(&step, i) - step.start_ns[0] > longest && !step.lanes.items[step.lane[i]].device)
            longest = pace_step_end_ns(&step, i) - step.start_ns[0];
    if (flop != 5 * 6 * weights * 512) fail_msg("%.17g operations, expected %.17g", flop, 5 * 6 * weights * 512);
    assert_true(took > 0 && took < 2 * longest); /* two threads at most */
    pace_graph_free(&graph);
    pace_step_free(&step);
}

static void every_trace_becomes_a_graph(void **state) {
    (void)state;
    const char *shared = getenv("PACELINE_SHARED");
    char folders[3][512];
    if (!shared) skip();
    const char *const inputs[] = {folders[0], folders[1], folders[2]};
    snprintf(folders[0], sizeof folders[0], "%s/kineto/*.json.gz", shared);
    snprintf(folders[1], sizeof folders[1], "%s/chakra/dlrm_8xV100_kineto/*.gz", shared);
    snprintf(folders[2], sizeof folders[2], "%s/chakra/*kineto.json.gz", shared);
    pace_paths paths;
    if (pace_paths_expand(&paths, inputs, 3) != PACE_OK) skip();
    for (size_t i = 0; i < paths.count; i++) check_trace(paths.items[i]);
    pace_paths_free(&paths);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_step_holds),           cmocka_unit_test(an_interval_holds_what_starts_in_it),
        cmocka_unit_test(gradients_of_a_convolution),  cmocka_unit_test(a_host_is_its_own_device),
        cmocka_unit_test(every_trace_becomes_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
