/* Chakra traces: published ones in both forms, what is written read back and by protoc, and nonsense. */
#include "source/traces/chakra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "source/traces/execution_trace.h"

typedef pace_status (*reader)(pace_graph *, pace_read_notes *, pace_input *);

static bool read_shared(pace_graph *graph, pace_read_notes *notes, reader read, const char *name) {
    const char *shared = getenv("PACELINE_SHARED");
    char path[512];
    pace_input *input;
    snprintf(path, sizeof path, "%s/chakra/%s", shared ? shared : "", name);
    if (!shared || pace_input_open(&input, path) != PACE_OK) return false;
    pace_status status = read(graph, notes, input);
    pace_input_free(input);
    if (status != PACE_OK) fail_msg("%s: %s", name, pace_message());
    assert_int_equal(pace_graph_check(graph), PACE_OK);
    return true;
}

static size_t operators(const pace_graph *graph) {
    size_t count = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) count += graph->nodes.items[i].kind == PACE_TASK_OP;
    return count;
}

static int64_t duration(const pace_graph *graph) {
    int64_t sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++)
        if (graph->launches.items[i].duration_ns > 0) sum += graph->launches.items[i].duration_ns;
    return sum;
}

/* The same trace in both forms: 2,448 operators of the host (those with an operator schema) and 1,216 kernels. */
TEST(both_forms_agree) {
    pace_graph binary, json;
    pace_read_notes notes;
    if (!read_shared(&binary, &notes, pace_chakra_read, "feeder_test.chakra.0.et.gz")) skip();
    assert_non_null(strstr(notes.warning, "control dependencies contradict")); /* they are parents, some renumbered */
    assert_true(read_shared(&json, &notes, pace_chakra_read_json, "workload_json.chakra.0.json.gz"));
    assert_int_equal(operators(&binary), 2448);
    assert_int_equal(binary.launches.count, 1216);
    assert_int_equal(operators(&json), 2448);
    assert_int_equal(json.launches.count, 1216);
    assert_true(duration(&binary) == duration(&json) && duration(&json) > 0);
    pace_graph_free(&binary);
    pace_graph_free(&json);
    assert_true(read_shared(&json, &notes, pace_chakra_read_json, "workload_json.small.json.gz"));
    assert_int_equal(operators(&json), 5);
    assert_int_equal(json.launches.count, 2);
    pace_graph_free(&json);
}

/* One collective of 1 MiB on each of four devices. */
TEST(one_collective) {
    static const struct {
        const char *file, *collective;
    } cases[] = {{"all_gather", "allgather"},
                 {"all_reduce", "allreduce"},
                 {"all_to_all", "alltoall"},
                 {"reduce_scatter", "reducescatter"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rank = 0; rank < 4; rank++) {
            pace_graph graph;
            pace_read_notes notes;
            char name[128];
            snprintf(name, sizeof name, "astra_microbench/4npus_1MB_%s.%d.et", cases[i].file, rank);
            if (!read_shared(&graph, &notes, pace_chakra_read, name)) skip();
            assert_string_equal(notes.warning, "");
            assert_int_equal(graph.launches.count, 1);
            assert_int_equal(graph.exchanges.count, 1);
            assert_string_equal(pace_names_text(&graph.names, graph.exchanges.items[0].collective),
                                cases[i].collective);
            assert_true(graph.exchanges.items[0].bytes == 1048576);
            pace_graph_free(&graph);
        }
}

/* A ring of 8: 14 sends of an eighth to the next, 14 receives from the one before, 7 sums, each after the one before.
 */
TEST(ring_of_sends) {
    for (int rank = 0; rank < 8; rank++) {
        pace_graph graph;
        pace_read_notes notes;
        char name[128];
        int sends = 0, receives = 0;
        snprintf(name, sizeof name, "astra_microbench/custom_ring_allreduce_8npus.%d.et", rank);
        if (!read_shared(&graph, &notes, pace_chakra_read, name)) skip();
        assert_int_equal(graph.launches.count, 35);
        assert_int_equal(graph.stream_count, 3);
        for (uint32_t i = 0; i < 35; i++) {
            const pace_launch *launch = &graph.launches.items[i];
            assert_true(launch->same_call == (i > 0));
            if (i > 0 && launch->stream != launch[-1].stream) assert_int_equal(launch->waits[0], i - 1);
            if (!launch->exchange) continue;
            const pace_graph_exchange *exchange = &graph.exchanges.items[launch->exchange - 1];
            bool send = strcmp(pace_names_text(&graph.names, exchange->collective), "send") == 0;
            sends += send;
            receives += !send;
            assert_int_equal(exchange->peer, (rank + (send ? 1 : 7)) % 8);
            assert_true(exchange->bytes == 131072);
        }
        assert_int_equal(sends, 14);
        assert_int_equal(receives, 14);
        pace_graph_free(&graph);
    }
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

typedef struct {
    unsigned char bytes[1 << 20];
    size_t count;
} memory;

static int write_memory(void *context, const void *bytes, size_t length) {
    memory *to = context;
    assert_true(to->count + length <= sizeof to->bytes);
    memcpy(to->bytes + to->count, bytes, length);
    to->count += length;
    return 0;
}

/* Two threads, two streams, an exchange, and a wait of the host. */
static void make_graph(pace_graph *graph) {
    uint32_t a, b, sync, after, first, second, third;
    pace_op gemm = {.family = PACE_OP_GEMM, .element_bytes = 2, .size = {1, 64, 32, 16}};
    assert_true(pace_op_complete(&gemm));
    assert_int_equal(pace_graph_init(graph), PACE_OK);
    assert_int_equal(pace_graph_add_node(&a, graph, PACE_TASK_OP, "forward", PACE_NO_NODE, 0), PACE_OK);
    assert_int_equal(pace_graph_add_launch(&first, graph, a, PACE_TASK_KERNEL, &gemm, 0), PACE_OK);
    assert_int_equal(pace_graph_add_node(&b, graph, PACE_TASK_OP, "backward", PACE_NO_NODE, 1), PACE_OK);
    graph->nodes.items[b].after = a;
    assert_int_equal(pace_graph_add_launch(&second, graph, b, PACE_TASK_KERNEL, NULL, 1), PACE_OK);
    pace_graph_exchange exchange = {.bytes = 4096, .peer = -1};
    assert_int_equal(pace_names_add(&exchange.collective, &graph->names, "allgather", 9), PACE_OK);
    assert_int_equal(pace_names_add(&exchange.group, &graph->names, "dp", 2), PACE_OK);
    assert_int_equal(PACE_PUSH(&graph->exchanges, exchange), PACE_OK);
    graph->launches.items[second].exchange = 1;
    graph->launches.items[second].waits[0] = first;
    assert_int_equal(pace_graph_add_node(&sync, graph, PACE_TASK_CALL, "synchronize", PACE_NO_NODE, 0), PACE_OK);
    graph->nodes.items[sync].waits_launch = second;
    assert_int_equal(pace_graph_add_node(&after, graph, PACE_TASK_OP, "update", PACE_NO_NODE, 0), PACE_OK);
    assert_int_equal(pace_graph_add_launch(&third, graph, after, PACE_TASK_KERNEL, &gemm, 0), PACE_OK);
    graph->launches.items[third].duration_ns = 12345;
    assert_int_equal(pace_graph_check(graph), PACE_OK);
}

TEST(what_is_written_is_read_back) {
    static memory written;
    pace_graph graph, back;
    pace_read_notes notes;
    pace_input *input;
    written.count = 0;
    make_graph(&graph);
    assert_int_equal(pace_chakra_write(&graph, write_memory, &written), PACE_OK);
    assert_int_equal(pace_input_open_memory(&input, "memory", written.bytes, written.count), PACE_OK);
    assert_int_equal(pace_chakra_read(&back, &notes, input), PACE_OK);
    assert_string_equal(notes.warning, "");
    assert_int_equal(back.launches.count, 3);
    assert_int_equal(operators(&back), 4);
    assert_int_equal(back.stream_count, 2);
    const pace_launch *launches = back.launches.items;
    assert_true(back.ops.items[launches[0].op].flop == 2.0 * 64 * 32 * 16);
    assert_true(back.ops.items[launches[0].op].read_bytes == 2.0 * (64 * 16 + 16 * 32));
    assert_true(back.ops.items[launches[0].op].write_bytes == 2.0 * 64 * 32);
    assert_int_equal(launches[1].waits[0], 0);
    const pace_graph_exchange *exchange = &back.exchanges.items[launches[1].exchange - 1];
    assert_string_equal(pace_names_text(&back.names, exchange->collective), "allgather");
    assert_string_equal(pace_names_text(&back.names, exchange->group), "dp");
    assert_true(exchange->bytes == 4096);
    assert_int_equal(launches[2].duration_ns, 12345);
    bool waited = false;
    for (size_t i = 0; i < back.nodes.count; i++) waited = waited || back.nodes.items[i].waits_launch == 1;
    assert_true(waited);
    pace_input_free(input);
    pace_graph_free(&graph);
    pace_graph_free(&back);
}

/* A real trace with its threads and exchanges survives the way there and back. */
TEST(a_trace_survives) {
    const char *shared = getenv("PACELINE_SHARED");
    char path[512];
    pace_input *input;
    pace_graph graph, back;
    pace_read_notes notes;
    snprintf(path, sizeof path, "%s/chakra/dlrm_8xV100_et/rank0.et.json.gz", shared ? shared : "");
    if (!shared || pace_input_open(&input, path) != PACE_OK) skip();
    assert_int_equal(pace_execution_trace_read(&graph, NULL, input), PACE_OK);
    pace_input_free(input);
    static memory written;
    written.count = 0;
    assert_int_equal(pace_chakra_write(&graph, write_memory, &written), PACE_OK);
    assert_int_equal(pace_input_open_memory(&input, "memory", written.bytes, written.count), PACE_OK);
    assert_int_equal(pace_chakra_read(&back, &notes, input), PACE_OK);
    assert_int_equal(operators(&back), graph.nodes.count);
    assert_int_equal(back.launches.count, graph.launches.count);
    for (size_t i = 0; i < back.launches.count; i++) {
        const pace_launch *a = &graph.launches.items[i], *b = &back.launches.items[i];
        assert_int_equal(!a->exchange, !b->exchange);
        if (a->op == PACE_NO_OP) continue;
        const pace_op *x = &graph.ops.items[a->op], *y = &back.ops.items[b->op];
        assert_true(x->flop == y->flop && x->read_bytes == y->read_bytes && x->write_bytes == y->write_bytes);
    }
    pace_input_free(input);
    pace_graph_free(&graph);
    pace_graph_free(&back);
}

/* Messages as protoc reads them with the fields of et_def.proto. */
TEST(protoc_reads_what_is_written) {
    const char *source = getenv("PACELINE_SOURCE");
    if (!source || system("protoc --version >/dev/null 2>&1") != 0) skip();
    static memory written;
    pace_graph graph;
    written.count = 0;
    make_graph(&graph);
    assert_int_equal(pace_chakra_write(&graph, write_memory, &written), PACE_OK);
    pace_graph_free(&graph);
    static const char *const expected[] = {
        "version: \"0.0.4\"",
        "name: \"forward\"\ntype: 4\nattr {\n  name: \"is_cpu_op\"\n  bool_val: true\n}",
        "id: 1\nname: \"gemm\"\ntype: 4\ndata_deps: 0\nattr {\n  name: \"is_cpu_op\"\n}\nattr {\n  name: \"tid\"\n}\n"
        "attr {\n  name: \"num_ops\"\n  int64_val: 65536\n}\nattr {\n  name: \"tensor_size\"\n  int64_val: 7168\n}",
        "name: \"backward\"\ntype: 4\ndata_deps: 0\n",
        "name: \"exchange\"\ntype: 7\ndata_deps: 2\ndata_deps: 1\nattr {",
        "name: \"synchronize\"\ntype: 4\ndata_deps: 0\n",
        "name: \"update\"\ntype: 4\ndata_deps: 4\ndata_deps: 3\n",
        "data_deps: 5\ndata_deps: 1\nduration_micros: 12\n",
    };
    size_t at = 0, count = 0;
    while (at < written.count && count < sizeof expected / sizeof *expected) {
        size_t length = 0, shift = 0;
        do length |= (size_t)(written.bytes[at] & 0x7f) << shift, shift += 7;
        while (written.bytes[at++] & 0x80);
        char file[] = "/tmp/paceline_message_XXXXXX", command[512], text[4096];
        int descriptor = mkstemp(file);
        FILE *stream = fdopen(descriptor, "wb");
        assert_int_equal(fwrite(written.bytes + at, 1, length, stream), length);
        fclose(stream);
        snprintf(command, sizeof command, "protoc --proto_path=%s/tests/data --decode=%s chakra_fields.proto <%s",
                 source, count ? "Node" : "Metadata", file);
        FILE *pipe = popen(command, "r");
        text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
        assert_int_equal(pclose(pipe), 0);
        remove(file);
        if (!strstr(text, expected[count]))
            fail_msg("message %zu: expected\n%s\nfound\n%s", count, expected[count], text);
        at += length;
        count++;
    }
    assert_int_equal(count, sizeof expected / sizeof *expected);
}

/* --- nonsense ----------------------------------------------------------------------------------------------------- */

static void expect(reader read, const char *bytes, size_t length, const char *says) {
    pace_input *input;
    pace_graph graph;
    pace_read_notes notes;
    assert_int_equal(pace_input_open_memory(&input, "bad.et", bytes, length), PACE_OK);
    assert_int_not_equal(read(&graph, &notes, input), PACE_OK);
    if (!strstr(pace_message(), says)) fail_msg("expected \"%s\", found: %s", says, pace_message());
    pace_input_free(input);
}

#define BINARY(bytes, says) expect(pace_chakra_read, bytes, sizeof bytes - 1, says)
#define JSON(text, says) expect(pace_chakra_read_json, text, sizeof text - 1, says)

TEST(bad_input_says_what_is_wrong) {
    BINARY("", "expected the nodes");
    BINARY("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "byte 0: expected the length of a message");
    BINARY("\x05\x0a", "expected a message of 5 bytes, found the end");
    BINARY("\x02\x08\x01", "expected the metadata");
    BINARY("\x80\x80\x80\x80\x08", "this is no such file");
    BINARY("\x00\x02\x08\x01", "expected a node type");
    BINARY("\x00\x03\x08\x01\x77", "expected a node of a Chakra trace");
    BINARY("\x00\x06\x08\x01\x18\x04\x28\x01", "node 1 () waits for itself");
    BINARY("\x00\x04\x08\x01\x18\x04\x04\x08\x01\x18\x04", "two nodes have the id 1");
    JSON("{}", "workload_graph");
    JSON("{\"workload_graph\":[]}", "workload_graph");
    JSON("{\"workload_graph\":[{\"Id\":1,", "bad.et");
    JSON("{\"workload_graph\":[{\"Id\":1,\"NodeType\":77}]}", "expected a node type of 1 to 10, found 77");
    JSON(
        "{\"workload_graph\":[{\"Id\":1,\"NodeType\":4,\"data_deps\":[2]},{\"Id\":2,\"NodeType\":4,\"data_deps\":[1]}]}",
        "waits for itself");
}

int main(void) { return run_tests_of_file(NULL, NULL); }
