/* Graphs: operations are interned, and an order that cannot be kept is refused. */
#include "step/graph.h"

#include <string.h>

#include "cmocka_of_tests.h"

static uint32_t node(pace_graph *graph, const char *name, uint32_t parent, uint32_t thread) {
    uint32_t out;
    assert_int_equal(pace_graph_add_node(&out, graph, PACE_TASK_OP, name, parent, thread), PACE_OK);
    return out;
}

static uint32_t launch(pace_graph *graph, uint32_t by, double elements, uint32_t stream) {
    pace_op op = {.family = PACE_OP_COPY, .element_bytes = 4, .size = {elements}};
    uint32_t out;
    assert_int_equal(pace_graph_add_launch(&out, graph, by, PACE_TASK_KERNEL, &op, stream), PACE_OK);
    return out;
}

TEST(equal_operations_share_one) {
    pace_graph graph;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    uint32_t by = node(&graph, "copy", PACE_NO_NODE, 0);
    for (int i = 0; i < 3000; i++) launch(&graph, by, 1 + i % 1000, 0);
    assert_int_equal(graph.ops.count, 1000);
    for (uint32_t i = 0; i < 3000; i++)
        assert_true(graph.ops.items[graph.launches.items[i].op].size[0] == 1 + i % 1000);
    assert_int_equal(pace_graph_check(&graph), PACE_OK);
    pace_graph_free(&graph);
}

/* Two threads and two streams: the backward thread runs after the forward operator, inside the caller's wait. */
static void build(pace_graph *graph) {
    assert_int_equal(pace_graph_init(graph), PACE_OK);
    uint32_t forward = node(graph, "forward", PACE_NO_NODE, 0), inner = node(graph, "inner", forward, 0);
    uint32_t caller = node(graph, "backward()", PACE_NO_NODE, 0), backward = node(graph, "backward", PACE_NO_NODE, 1);
    uint32_t first = launch(graph, inner, 8, 0), second = launch(graph, backward, 8, 1);
    graph->nodes.items[backward].after = forward;
    graph->nodes.items[caller].waits_node = backward;
    graph->nodes.items[caller].waits_launch = second;
    graph->launches.items[second].waits[0] = first;
    assert_int_equal(pace_graph_check(graph), PACE_OK);
}

TEST(cycles_are_refused) {
    for (int fault = 0; fault < 4; fault++) {
        pace_graph graph;
        build(&graph);
        if (fault == 0) graph.nodes.items[0].after = 3;        /* forward after backward after forward */
        if (fault == 1) graph.launches.items[0].waits[0] = 1;  /* each launch waits for the other */
        if (fault == 2) graph.nodes.items[1].waits_node = 2;   /* inner waits for what comes after it */
        if (fault == 3) graph.nodes.items[0].waits_launch = 1; /* forward waits for what backward launches */
        assert_int_equal(pace_graph_check(&graph), PACE_E_INPUT);
        assert_non_null(strstr(pace_message(), "waits for itself"));
        pace_graph_free(&graph);
    }
}

TEST(dangling_links_are_refused) {
    for (int fault = 0; fault < 4; fault++) {
        pace_graph graph;
        build(&graph);
        if (fault == 0) graph.nodes.items[1].parent = 3;
        if (fault == 1) graph.nodes.items[1].after = 77;
        if (fault == 2) graph.launches.items[1].node = 4;
        if (fault == 3) graph.launches.items[1].exchange = 1;
        assert_int_equal(pace_graph_check(&graph), PACE_E_INPUT);
        pace_graph_free(&graph);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
