/* Models of the catalogue, lowered, and what their graphs are counted by. */
#pragma once

#include "catalog_of_tests.h"
#include "model/lower.h"
#include "model/model_catalog.h"

#include <math.h>

#include "cmocka_of_tests.h"

static inline pace_model load(const char *name, const pace_model_setting *settings, size_t count) {
    pace_model model;
    if (pace_model_load(&model, test_catalog(), name, settings, count) != PACE_OK)
        fail_msg("%s: %s", name, pace_message());
    return model;
}

static inline pace_graph lower(const pace_model *model, const pace_config *config) {
    pace_graph graph;
    if (pace_model_lower(&graph, model, config, 0) != PACE_OK)
        fail_msg("%s: %s", pace_names_text(&model->names, model->name), pace_message());
    return graph;
}

static inline pace_graph lower_stage(const pace_model *model, const pace_config *config, uint32_t stage) {
    pace_graph graph;
    if (pace_model_lower(&graph, model, config, stage) != PACE_OK) fail_msg("stage %u: %s", stage, pace_message());
    return graph;
}

static inline pace_stage stage_of(const pace_graph *graph, const pace_launch *launch) {
    return (pace_stage)graph->nodes.items[launch->node].stage;
}

/* Flop of matrix products, convolutions and attention. */
static inline double products(const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        const pace_op *op = launch->op == PACE_NO_OP ? NULL : &graph->ops.items[launch->op];
        if (op && (op->family == PACE_OP_GEMM || op->family == PACE_OP_CONVOLUTION || op->family == PACE_OP_ATTENTION))
            sum += op->flop;
    }
    return sum;
}

static inline void check_graph(const pace_graph *graph, const pace_model *model) {
    const char *name = pace_names_text(&model->names, model->name);
    if (pace_graph_check(graph) != PACE_OK) fail_msg("%s: %s", name, pace_message());
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].stage >= PACE_STAGES) fail_msg("%s: node %zu has no stage", name, i);
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (launch->op == PACE_NO_OP) {
            assert_true(launch->exchange > 0);
            continue;
        }
        const pace_op *op = &graph->ops.items[launch->op];
        if (!(op->read_bytes + op->write_bytes > 0) || !isfinite(op->read_bytes + op->write_bytes) ||
            op->read_bytes < 0 || op->write_bytes < 0 || op->flop < 0)
            fail_msg("%s: %s: launch %zu (%s %s) has no amount", name,
                     pace_names_text(&graph->names, graph->nodes.items[launch->node].name), i,
                     pace_op_family_name(op->family), op->kind);
    }
}
