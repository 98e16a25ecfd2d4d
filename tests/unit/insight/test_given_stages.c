/* A predicted step says its stages and what its exchanges are for: names that say otherwise change neither. */
#include "insight/steps/stages.h"
#include "schedule/walk.h"

#include <string.h>

#include "cmocka_of_tests.h"

#include "stage_words_of_tests.h"

static uint32_t add(pace_graph *graph, const char *name, pace_stage stage) {
    uint32_t node, launch;
    assert_int_equal(pace_graph_add_node(&node, graph, PACE_TASK_OP, name, PACE_NO_NODE, 0), PACE_OK);
    graph->nodes.items[node].stage = (uint8_t)stage;
    assert_int_equal(pace_graph_add_launch(&launch, graph, node, PACE_TASK_KERNEL, NULL, 0), PACE_OK);
    return launch;
}

static void name(pace_name *out, pace_graph *graph, const char *text) {
    assert_int_equal(pace_names_add(out, &graph->names, text, strlen(text)), PACE_OK);
}

static void exchange(pace_graph *graph, uint32_t launch, const char *group, pace_group_kind kind,
                     pace_exchange_role role) {
    pace_graph_exchange one = {.peer = -1, .bytes = 4, .group_kind = (uint8_t)kind, .role = (uint8_t)role};
    name(&one.collective, graph, "allreduce");
    name(&one.group, graph, group);
    assert_int_equal(pace_graph_add_exchange(graph, launch, &one), PACE_OK);
}

static void walk(pace_step *out, const pace_graph *graph) {
    pace_host_costs costs;
    double launch_ns[8] = {100, 100, 100, 100, 100, 100, 100, 100};
    assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        assert_int_equal(pace_host_costs_add(&costs, (pace_overhead_type)type, "x", (pace_host_cost){10, 0, 1}),
                         PACE_OK);
    pace_walk_rank rank = {.graph = graph, .launch_ns = launch_ns, .costs = &costs};
    pace_walk_options options = {.scale = {1, 1, 1, 1, 1}, .repeats = 1};
    assert_int_equal(pace_walk(out, &rank, 1, &options), PACE_OK);
    pace_host_costs_free(&costs);
}

static int of_stage(const pace_step *step, uint8_t kind, pace_stage stage) {
    int count = 0;
    for (uint32_t i = 0; i < step->count; i++) count += step->kind[i] == kind && step->stage[i] == stage;
    return count;
}

/* Forward under the optimizer's name, update under autograd's: by names each would be the other. */
TEST(test_names_do_not_override_given_stages) {
    pace_graph graph;
    pace_step step;
    pace_marks marks = {0};
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    uint32_t first = add(&graph, "Optimizer.step", PACE_STAGE_FORWARD);
    add(&graph, "AddmmBackward0", PACE_STAGE_UPDATE);
    add(&graph, "aten::mul", PACE_STAGE_INPUT);
    name(&graph.launches.items[first].name, &graph, "adam_bwd_kernel");
    walk(&step, &graph);
    assert_int_equal(pace_stages_attribute(&step, &marks, test_stage_words()), PACE_OK);
    for (int kind = PACE_TASK_OP; kind <= PACE_TASK_KERNEL; kind += PACE_TASK_KERNEL - PACE_TASK_OP) {
        assert_int_equal(of_stage(&step, (uint8_t)kind, PACE_STAGE_FORWARD), 1);
        assert_int_equal(of_stage(&step, (uint8_t)kind, PACE_STAGE_UPDATE), 1);
        assert_int_equal(of_stage(&step, (uint8_t)kind, PACE_STAGE_INPUT), 1);
    }
    pace_step_free(&step);
    pace_graph_free(&graph);
}

/* Only an exchange without a kind takes one from its group's name. */
TEST(test_walked_exchanges_keep_kind_and_role) {
    static const struct {
        const char *group;
        pace_group_kind kind, expected;
        pace_exchange_role role, expected_role;
    } cases[] = {
        {"dp", PACE_GROUP_TENSOR, PACE_GROUP_TENSOR, PACE_ROLE_ACTIVATION, PACE_ROLE_ACTIVATION},
        {"17", PACE_GROUP_DATA, PACE_GROUP_DATA, PACE_ROLE_GRADIENT, PACE_ROLE_GRADIENT},
        {"dp", PACE_GROUP_UNKNOWN, PACE_GROUP_DATA, PACE_ROLE_UNKNOWN, PACE_ROLE_GRADIENT},
        {"tp", PACE_GROUP_UNKNOWN, PACE_GROUP_TENSOR, PACE_ROLE_UNKNOWN, PACE_ROLE_ACTIVATION},
        {"default_pg", PACE_GROUP_UNKNOWN, PACE_GROUP_UNKNOWN, PACE_ROLE_UNKNOWN, PACE_ROLE_UNKNOWN},
    };
    pace_graph graph;
    pace_step step;
    size_t found = 0;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        exchange(&graph, add(&graph, "x", PACE_STAGE_BACKWARD), cases[i].group, cases[i].kind, cases[i].role);
    walk(&step, &graph);
    for (uint32_t i = 0; i < step.count; i++) {
        const pace_exchange_info *info = pace_step_exchange(&step, i);
        if (!info) continue;
        assert_int_equal(info->group_kind, cases[found].expected);
        assert_int_equal(info->role, cases[found].expected_role);
        found++;
    }
    assert_int_equal(found, sizeof cases / sizeof *cases);
    pace_step_free(&step);
    pace_graph_free(&graph);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
