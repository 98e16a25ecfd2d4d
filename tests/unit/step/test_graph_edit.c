/* Copies and edits of graphs: against random graphs whose edits are known by the names of what must be left. */
#include "step/graph_edit.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

static uint64_t seed;
static uint32_t any(uint32_t below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* Operators nested at random on two threads, each with up to two launches on two streams, some of them waiting. Every
 * node and launch has a name of its own. */
static void build(pace_graph *graph) {
    uint32_t open[2][8], depth[2] = {0, 0}, count = 1 + any(30);
    assert_int_equal(pace_graph_init(graph), PACE_OK);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = any(2), node, launch;
        char name[16];
        while (depth[thread] && (depth[thread] == 8 || any(2))) depth[thread]--;
        uint32_t parent = depth[thread] ? open[thread][depth[thread] - 1] : PACE_NO_NODE;
        snprintf(name, sizeof name, "n%u", i);
        pace_task_kind kind = any(8) ? PACE_TASK_OP : PACE_TASK_ANNOTATION;
        assert_int_equal(pace_graph_add_node(&node, graph, kind, name, parent, thread), PACE_OK);
        open[thread][depth[thread]++] = node;
        for (uint32_t k = any(3); k-- > 0;) {
            pace_op op = {.family = PACE_OP_COPY, .element_bytes = 4, .size = {1 + any(3)}};
            assert_int_equal(pace_graph_add_launch(&launch, graph, node, PACE_TASK_KERNEL, &op, any(2)), PACE_OK);
            snprintf(name, sizeof name, "l%u", launch);
            pace_launch *l = &graph->launches.items[launch];
            assert_int_equal(pace_names_add(&l->name, &graph->names, name, strlen(name)), PACE_OK);
            if (launch && any(4) == 0) l->waits[0] = any(launch);
        }
        size_t launches = graph->launches.count;
        if (launches && any(6) == 0) graph->nodes.items[node].waits_launch = any((uint32_t)launches);
    }
    assert_int_equal(pace_graph_check(graph), PACE_OK);
}

static const char *node_name(const pace_graph *g, uint32_t node) {
    return node == PACE_NO_NODE ? "" : pace_names_text(&g->names, g->nodes.items[node].name);
}

static const char *launch_name(const pace_graph *g, uint32_t launch) {
    return launch == PACE_NO_LAUNCH ? "" : pace_names_text(&g->names, g->launches.items[launch].name);
}

TEST(a_copy_is_the_same) {
    for (seed = 1; seed < 200; seed++) {
        pace_graph graph, copy;
        uint64_t kept = seed;
        build(&graph);
        seed = kept;
        assert_int_equal(pace_graph_copy(&copy, &graph), PACE_OK);
        assert_int_equal(copy.nodes.count, graph.nodes.count);
        assert_int_equal(copy.launches.count, graph.launches.count);
        for (uint32_t i = 0; i < graph.nodes.count; i++) assert_string_equal(node_name(&copy, i), node_name(&graph, i));
        for (uint32_t i = 0; i < graph.launches.count; i++) {
            assert_string_equal(launch_name(&copy, i), launch_name(&graph, i));
            assert_true(pace_op_equal(&copy.ops.items[copy.launches.items[i].op],
                                      &graph.ops.items[graph.launches.items[i].op]));
        }
        pace_graph_free(&graph);
        assert_int_equal(pace_graph_check(&copy), PACE_OK); /* lives on alone */
        pace_graph_free(&copy);
    }
}

static bool below(const pace_graph *g, uint32_t node, uint32_t top) {
    while (node != PACE_NO_NODE && node != top) node = g->nodes.items[node].parent;
    return node == top;
}

/* By definition, node by node: it had work, none of it is left, nothing in it waits or is waited for, all operators. */
static bool must_go(const pace_graph *g, const uint32_t *into, uint32_t node) {
    for (uint32_t top = node; top != PACE_NO_NODE; top = g->nodes.items[top].parent) {
        bool worked = false, works = false, held = false;
        for (uint32_t i = 0; i < g->launches.count; i++) {
            if (!below(g, g->launches.items[i].node, top)) continue;
            worked = true;
            works |= into[i] == i;
        }
        for (uint32_t i = 0; i < g->nodes.count; i++)
            if (below(g, i, top))
                held |= g->nodes.items[i].waits_launch != PACE_NO_LAUNCH || g->nodes.items[i].kind != PACE_TASK_OP;
        if (worked && !works && !held) return true;
    }
    return false;
}

TEST(merged_launches_leave_and_the_rest_stays) {
    size_t gone = 0;
    for (uint64_t round = 1; round < 1500; round++) {
        pace_graph before, after;
        uint32_t into[128], number[128];
        seed = round;
        build(&before);
        assert_true(before.launches.count < 128);
        for (uint32_t i = 0; i < before.launches.count; i++) {
            into[i] = i;
            for (uint32_t j = 0; j < i && into[i] == i; j++) /* into an earlier one of its stream that stays */
                if (into[j] == j && before.launches.items[j].stream == before.launches.items[i].stream && any(3) == 0)
                    into[i] = j;
            number[i] = into[i];
        }
        assert_int_equal(pace_graph_copy(&after, &before), PACE_OK);
        assert_int_equal(pace_graph_merge_launches(&after, number), PACE_OK);
        uint32_t next = 0;
        for (uint32_t i = 0; i < before.nodes.count; i++) {
            if (must_go(&before, into, i)) {
                gone++;
                continue;
            }
            assert_true(next < after.nodes.count);
            assert_string_equal(node_name(&after, next), node_name(&before, i));
            assert_string_equal(node_name(&after, after.nodes.items[next].parent),
                                node_name(&before, before.nodes.items[i].parent));
            uint32_t on = before.nodes.items[i].waits_launch;
            assert_string_equal(launch_name(&after, after.nodes.items[next].waits_launch),
                                launch_name(&before, on == PACE_NO_LAUNCH ? on : into[on]));
            next++;
        }
        assert_int_equal(next, after.nodes.count);
        next = 0;
        for (uint32_t i = 0; i < before.launches.count; i++) {
            assert_string_equal(launch_name(&after, number[i]), launch_name(&before, into[i]));
            if (into[i] != i) continue;
            assert_string_equal(launch_name(&after, next), launch_name(&before, i));
            assert_string_equal(node_name(&after, after.launches.items[next].node),
                                node_name(&before, before.launches.items[i].node));
            next++;
        }
        assert_int_equal(next, after.launches.count);
        assert_int_equal(pace_graph_check(&after), PACE_OK);
        pace_graph_free(&before);
        pace_graph_free(&after);
    }
    assert_true(gone > 1000);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
