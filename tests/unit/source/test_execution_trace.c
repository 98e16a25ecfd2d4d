/* Execution traces of every schema: the same small step written in each, published counts of real ones, and nonsense.
 */
#include "source/traces/execution_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

static pace_status read_text(pace_graph *graph, const char *text) {
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "test.json", text, strlen(text)), PACE_OK);
    pace_status status = pace_execution_trace_read(graph, NULL, input);
    pace_input_free(input);
    return status;
}

static uint32_t find_node(const pace_graph *graph, const char *name) {
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (strcmp(pace_names_text(&graph->names, graph->nodes.items[i].name), name) == 0) return i;
    fail_msg("no node %s", name);
    return 0;
}

/* --- one step in two ways of writing --------------------------------------------------------------------- */

typedef struct {
    int id, parent, thread, scope, forward;
    const char *name, *schema, *values, *shapes, *types, *outputs, *output_types;
} sample;

/* A matrix product, its gradient on another thread, the gradient's sum over ranks, and an update that waits for it. */
static const sample samples[] = {
    {1, 0, 0, 7, 0, "[pytorch|profiler|execution_trace|process]", "", "[]", "[]", "[]", "[]", "[]"},
    {2, 1, 1, 7, 0, "[pytorch|profiler|execution_trace|thread]", "", "[]", "[]", "[]", "[]", "[]"},
    {3, 2, 1, 7, 0, "## step ##", "", "[]", "[]", "[]", "[]", "[]"},
    {4, 3, 1, 0, 0, "aten::matmul", "x", "[[10,20,0,2048,4@],[11,21,0,512,4@]]", "[[64,32],[32,16]]",
     "[\"Tensor(float)\",\"Tensor(float)\"]", "[[12,22,0,1024,4@]]", "[\"Tensor(float)\"]"},
    {5, 4, 1, 0, 0, "aten::mm", "x", "[[10,20,0,2048,4@],[11,21,0,512,4@]]", "[[64,32],[32,16]]",
     "[\"Tensor(float)\",\"Tensor(float)\"]", "[[12,22,0,1024,4@]]", "[\"Tensor(float)\"]"},
    {6, 1, 2, 7, 0, "[pytorch|profiler|execution_trace|thread]", "", "[]", "[]", "[]", "[]", "[]"},
    {7, 6, 2, 0, 0, "autograd::engine::evaluate_function: MmBackward0", "", "[]", "[]", "[]", "[]", "[]"},
    {8, 7, 2, 0, 3, "MmBackward0", "", "[]", "[]", "[]", "[]", "[]"},
    {9, 8, 2, 0, 0, "aten::t", "x", "[[10,20,0,2048,4@]]", "[[64,32]]", "[\"Tensor(float)\"]", "[[15,20,0,2048,4@]]",
     "[\"Tensor(float)\"]"},
    {10, 8, 2, 0, 0, "aten::mm", "x", "[[15,20,0,2048,4@],[12,22,0,1024,4@]]", "[[32,64],[64,16]]",
     "[\"Tensor(float)\",\"Tensor(float)\"]", "[[13,23,0,512,4@]]", "[\"Tensor(float)\"]"},
    {11, 7, 2, 0, 0, "record_param_comms", "", "[[[13,23,0,512,4@]],77,0,0,\"allreduce\",[],[]]",
     "[[[512]],[],[],[],[],[],[]]",
     "[\"GenericList[Tensor(float)]\",\"Int\",\"Int\",\"Int\",\"String\",\"GenericList[]\",\"GenericList[]\"]", "[]",
     "[]"},
    {12, 11, 2, 7, 0, "nccl:all_reduce", "", "[[13,23,0,512,4@]]", "[[512]]", "[\"Tensor(float)\"]", "[]", "[]"},
    {13, 3, 1, 0, 0, "aten::relu", "x", "[[30,40,0,64,4@]]", "[[64]]", "[\"Tensor(float)\"]", "[[31,41,0,64,4@]]",
     "[\"Tensor(float)\"]"},
    {14, 3, 1, 0, 0, "record_param_comms", "", "[77,0,0,\"wait\",[],[]]", "[[],[],[],[],[],[]]",
     "[\"Int\",\"Int\",\"Int\",\"String\",\"GenericList[]\",\"GenericList[]\"]", "[]", "[]"},
    {15, 3, 1, 0, 0, "aten::relu", "x", "[[30,40,0,64,4@]]", "[[64]]", "[\"Tensor(float)\"]", "[[31,41,0,64,4@]]",
     "[\"Tensor(float)\"]"},
    {16, 3, 1, 0, 0, "aten::frobnicate", "x", "[[30,40,0,64,4@]]", "[[64]]", "[\"Tensor(float)\"]", "[[31,41,0,64,4@]]",
     "[\"Tensor(float)\"]"},
    {17, 3, 1, 0, 0, "aten::relu", "x", "[[50,60,0,64,4,\"cpu\"]]", "[[64]]", "[\"Tensor(float)\"]",
     "[[51,61,0,64,4,\"cpu\"]]", "[\"Tensor(float)\"]"},
};

/* "@" in a sample stands for where the tensor is. */
static void put(char *to, size_t room, const char *text, const char *device) {
    size_t used = strlen(to);
    for (; *text && used + 16 < room; text++) {
        if (*text == '@') used += (size_t)snprintf(to + used, room - used, "%s", device);
        else to[used++] = *text;
        to[used] = '\0';
    }
}

static void write_flat(char *to, size_t room, const sample *s, const char *device) {
    char head[512];
    snprintf(head, sizeof head,
             "{\"name\":\"%s\",\"id\":%d,\"rf_id\":%d,\"parent\":%d,\"fw_parent\":%d,\"seq_id\":-1,\"scope\":%d,"
             "\"tid\":%d,\"fw_tid\":0,\"op_schema\":\"%s\",\"inputs\":",
             s->name, s->id, s->id, s->parent, s->forward, s->scope, s->thread, s->schema);
    const char *const parts[] = {head,
                                 s->values,
                                 ",\"input_shapes\":",
                                 s->shapes,
                                 ",\"input_types\":",
                                 s->types,
                                 ",\"outputs\":",
                                 s->outputs,
                                 ",\"output_types\":",
                                 s->output_types,
                                 "}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) put(to, room, parts[i], device);
}

static void write_attributes(char *to, size_t room, const sample *s, const char *device) {
    char head[512], tail[512];
    snprintf(head, sizeof head, "{\"id\":%d,\"name\":\"%s\",\"ctrl_deps\":%d,\"inputs\":{\"values\":", s->id, s->name,
             s->parent);
    snprintf(
        tail, sizeof tail,
        "},\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":%d},"
        "{\"name\":\"fw_parent\",\"type\":\"uint64\",\"value\":%d},"
        "{\"name\":\"scope\",\"type\":\"uint64\",\"value\":%d},{\"name\":\"tid\",\"type\":\"uint64\",\"value\":%d},"
        "{\"name\":\"op_schema\",\"type\":\"string\",\"value\":\"%s\"}]}",
        s->id, s->forward, s->scope, s->thread, s->schema);
    const char *const parts[] = {head,
                                 s->values,
                                 ",\"shapes\":",
                                 s->shapes,
                                 ",\"types\":",
                                 s->types,
                                 "},\"outputs\":{\"values\":",
                                 s->outputs,
                                 ",\"shapes\":[],\"types\":",
                                 s->output_types,
                                 tail};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) put(to, room, parts[i], device);
}

static void write_trace(char *to, size_t room, const char *schema) {
    bool flat = strncmp(schema, "1.0.0", 5) == 0 || strncmp(schema, "1.0.1", 5) == 0;
    const char *device = strcmp(schema, "1.0.0") == 0 ? "" : ",\\\"cuda:0\\\"";
    char plain[32] = "";
    put(plain, sizeof plain, strcmp(schema, "1.0.0") == 0 ? "" : ",\"cuda:0\"", device);
    snprintf(to, room, "{\"schema\":\"%s\",\"pid\":1,\"nodes\":[", schema);
    size_t count = sizeof samples / sizeof *samples - (strcmp(schema, "1.0.0") == 0); /* the last lies on the host */
    for (size_t i = 0; i < count; i++) {
        if (i) put(to, room, ",", "");
        if (flat) write_flat(to, room, &samples[(i * 7) % count], plain); /* in no order */
        else write_attributes(to, room, &samples[(i * 7) % count], plain);
    }
    put(to, room, "],\"finish_ts\":2}", "");
}

static void check_step(const pace_graph *graph) {
    const pace_graph_node *nodes = graph->nodes.items;
    const pace_launch *launches = graph->launches.items;
    uint32_t step = find_node(graph, "## step ##"), matmul = find_node(graph, "aten::matmul");
    uint32_t mm = find_node(graph, "aten::mm");
    uint32_t backward = find_node(graph, "autograd::engine::evaluate_function: MmBackward0");
    assert_int_equal(graph->thread_count, 2);
    assert_int_equal(nodes[step].kind, PACE_TASK_ANNOTATION);
    assert_int_equal(nodes[matmul].parent, step);
    assert_int_equal(nodes[mm].parent, matmul);
    assert_int_equal(nodes[backward].parent, PACE_NO_NODE);
    assert_int_equal(nodes[backward].after, matmul);
    assert_int_equal(nodes[step].waits_node, backward);
    assert_int_equal(graph->launches.count, 6);
    assert_int_equal(launches[0].node, mm);
    const pace_op *forward = &graph->ops.items[launches[0].op], *gradient = &graph->ops.items[launches[1].op];
    assert_int_equal(forward->family, PACE_OP_GEMM);
    assert_true(forward->flop == 2.0 * 64 * 32 * 16 && gradient->flop == forward->flop);
    assert_int_equal(graph->exchanges.count, 1);
    assert_string_equal(pace_names_text(&graph->names, graph->exchanges.items[0].collective), "allreduce");
    assert_true(graph->exchanges.items[0].bytes == 2048);
    assert_int_equal(launches[2].exchange, 1);
    assert_int_equal(launches[2].waits[0], 1);
    assert_int_not_equal(launches[2].stream, launches[1].stream);
    assert_int_equal(launches[3].waits[0], PACE_NO_LAUNCH); /* before the wait */
    assert_int_equal(launches[4].waits[0], 2);
    assert_int_equal(graph->unknown_ops, 1);
    assert_string_equal(pace_names_text(&graph->names, graph->unknown.items[0].name), "aten::frobnicate");
    const pace_op *unknown = &graph->ops.items[launches[5].op];
    assert_true(unknown->read_bytes == 256 && unknown->write_bytes == 256);
}

TEST(every_schema_says_the_same) {
    static const char *const schemas[] = {
        "1.0.0", "1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};
    static char text[16384];
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        pace_graph graph;
        write_trace(text, sizeof text, schemas[i]);
        if (read_text(&graph, text) != PACE_OK) fail_msg("%s: %s\n%s", schemas[i], pace_message(), text);
        check_step(&graph);
        pace_graph_free(&graph);
    }
}

/* Without values shapes and types say what is computed, and the range of NCCL what is exchanged. */
TEST(values_left_out) {
    static char text[16384];
    pace_graph graph;
    write_trace(text, sizeof text, "1.0.1");
    for (char *at = strstr(text, "\"inputs\""); at; at = strstr(at, "\"inputs\"")) at[1] = 'I';
    assert_int_equal(read_text(&graph, text), PACE_OK);
    assert_int_equal(graph.launches.count, 6);
    const pace_launch *launches = graph.launches.items;
    const pace_op *forward = &graph.ops.items[launches[0].op], *unknown = &graph.ops.items[launches[5].op];
    assert_int_equal(forward->family, PACE_OP_GEMM);
    assert_true(forward->flop == 2.0 * 64 * 32 * 16 && graph.ops.items[launches[1].op].flop == forward->flop);
    assert_true(graph.exchanges.count == 1 && graph.exchanges.items[0].bytes == 2048);
    assert_true(unknown->read_bytes == 256 && unknown->write_bytes == 256);
    pace_graph_free(&graph);
}

TEST(test_strays) {
    static const char text[] = "{\"schema\":\"1.0.1\",\"nodes\":[{\"id\":2,\"name\":\"a\",\"parent\":99},"
                               "{\"id\":3,\"name\":\"b\",\"parent\":2}]}";
    pace_graph graph;
    pace_trace_ids ids;
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "test.json", text, strlen(text)), PACE_OK);
    assert_int_equal(pace_execution_trace_read(&graph, &ids, input), PACE_OK);
    assert_int_equal(ids.strays, 1);
    pace_input_free(input);
    pace_trace_ids_free(&ids);
    pace_graph_free(&graph);
}

/* --- real traces -------------------------------------------------------------------------------------------------- */

static bool read_shared(pace_graph *graph, const char *name) {
    const char *shared = getenv("PACELINE_SHARED");
    char path[512];
    pace_input *input;
    snprintf(path, sizeof path, "%s/%s", shared ? shared : "", name);
    if (!shared || pace_input_open(&input, path) != PACE_OK) return false;
    pace_status status = pace_execution_trace_read(graph, NULL, input);
    pace_input_free(input);
    if (status != PACE_OK) fail_msg("%s: %s", name, pace_message());
    assert_int_equal(pace_graph_check(graph), PACE_OK);
    return true;
}

static double flop_of(const pace_graph *graph, pace_op_family family, size_t *count) {
    double flop = 0;
    *count = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        uint32_t op = graph->launches.items[i].op;
        if (op == PACE_NO_OP || graph->ops.items[op].family != family) continue;
        flop += graph->ops.items[op].flop;
        ++*count;
    }
    return flop;
}

/* VGG-13 on 512 images: ten convolutions and three products. An image takes 11.18 G multiply-adds in convolutions
 * (Simonyan and Zisserman 2015, configuration B; the first layer needs no gradient of its input) and 123.6 M in
 * products (25 088, 4 096, 4 096, 1 000). */
TEST(vgg13) {
    pace_graph graph;
    size_t convolutions, products;
    if (!read_shared(&graph, "chakra/pair_vgg13_1xH100.et.json.gz")) skip();
    double first = 2.0 * 512 * 64 * 224 * 224 * 27, image = 0;
    static const double layers[][3] = {{3, 64, 224},   {64, 64, 224},  {64, 128, 112}, {128, 128, 112}, {128, 256, 56},
                                       {256, 256, 56}, {256, 512, 28}, {512, 512, 28}, {512, 512, 14},  {512, 512, 14}};
    for (int i = 0; i < 10; i++) image += 9 * layers[i][0] * layers[i][1] * layers[i][2] * layers[i][2];
    assert_true(image > 11.17e9 && image < 11.20e9);
    double flop = flop_of(&graph, PACE_OP_CONVOLUTION, &convolutions);
    assert_true(flop == 3 * 2 * 512 * image - first);
    flop = flop_of(&graph, PACE_OP_GEMM, &products);
    assert_true(flop == 3 * 2 * 512.0 * (25088.0 * 4096 + 4096.0 * 4096 + 4096.0 * 1000));
    assert_int_equal(products, 9);
    assert_int_equal(convolutions, 10 + 19);
    assert_int_equal(graph.nodes.count, 900);
    pace_graph_free(&graph);
}

/* Each rank: five all-to-alls, three all-reduces (see the README of the data). */
TEST(dlrm_ranks) {
    for (int rank = 0; rank < 8; rank++) {
        pace_graph graph;
        char name[64];
        int reduces = 0, others = 0;
        snprintf(name, sizeof name, "chakra/dlrm_8xV100_et/rank%d.et.json.gz", rank);
        if (!read_shared(&graph, name)) skip();
        for (size_t i = 0; i < graph.exchanges.count; i++) {
            const char *collective = pace_names_text(&graph.names, graph.exchanges.items[i].collective);
            reduces += strcmp(collective, "allreduce") == 0;
            others += strcmp(collective, "alltoall") == 0;
        }
        assert_int_equal(reduces, 3);
        assert_int_equal(others, 5);
        pace_graph_free(&graph);
    }
}

/* DLRM's default at 1024 samples: a hundred look-ups in each of eight tables of a million rows, forward and backward.
 */
TEST(dlrm_looks_up) {
    pace_graph graph;
    size_t passes[PACE_PASSES] = {0};
    if (!read_shared(&graph, "dlrm/moderato_param/my_dlrm_default_1024.json.gz")) skip();
    for (size_t i = 0; i < graph.launches.count; i++) {
        const pace_op *op = &graph.ops.items[graph.launches.items[i].op];
        if (op->family != PACE_OP_EMBEDDING || strcmp(op->kind, "tables") != 0) continue;
        static const double sizes[] = {1024, 8, 1000000, 100, 64};
        for (int k = 0; k < 5; k++) assert_true(op->size[k] == sizes[k]);
        passes[op->pass]++;
    }
    assert_int_equal(passes[PACE_PASS_FORWARD], 1);
    assert_int_equal(passes[PACE_PASS_BACKWARD], 1);
    pace_graph_free(&graph);
}

TEST(all_others_are_read) {
    static const char *const names[] = {"chakra/linear_RTX2080Ti.et_schema1.0.1.json.gz",
                                        "chakra/small.et_schema1.0.2.json.gz",
                                        "chakra/resnet_ddp.et_schema1.1.0.json.gz",
                                        "chakra/pt2_compiled.et_schema1.1.1.json.gz",
                                        "chakra/pair_simple_add_A100.et.json.gz",
                                        "dlrm/moderato_param/my_dlrm_default_1024.json.gz",
                                        "dlrm/moderato_param/my_alex_net.json.gz",
                                        "dlrm/moderato_param/alex_net_eg.json.gz",
                                        "dlrm/param/resnet_et_1.0.1.json.gz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pace_graph graph;
        if (!read_shared(&graph, names[i])) skip();
        assert_true(graph.launches.count > 0);
        pace_graph_free(&graph);
    }
}

/* --- nonsense ----------------------------------------------------------------------------------------------------- */

TEST(bad_input_says_what_is_wrong) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"schema\":\"9.0.0\",\"nodes\":[{\"id\":1}]}", "schema \"9.0.0\" is not known"},
        {"{\"schema\":\"1.0.1\",\"nodes\":[]}", "expected nodes"},
        {"{\"traceEvents\":[]}", "expected an execution trace"},
        {"{\"schema\":\"1.0.1\",\"nodes\":[{\"id\":1},{\"id\":1}]}", "two nodes have the id 1"},
        {"{\"schema\":\"1.0.1\",\"nodes\":[{\"name\":\"a\"}]}", "expected an \"id\""},
        {"{\"schema\":\"1.0.1\",\"nodes\":[{\"id\":1,\"name\":\"a\",\"parent\":2},{\"id\":2,\"parent\":1}]}",
         "expected its parent before it"},
        {"{\"schema\":\"1.0.1\",\"nodes\":[{\"id\":1,", "test.json"},
        {"", "test.json"},
        {"[1,2]", "expected an execution trace"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_graph graph;
        assert_int_equal(read_text(&graph, cases[i].text), PACE_E_INPUT);
        if (!strstr(pace_message(), cases[i].says)) fail_msg("%s: %s", cases[i].text, pace_message());
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
