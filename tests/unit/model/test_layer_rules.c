/* A kind of layer is a row: one that the library does not have is read, counted and lowered like the others. */
#include "model/layer.h"
#include "model/lower.h"
#include "model/lower_ops.h"

#include <string.h>

#include "cmocka_of_tests.h"

enum { FEATURES = 32, BATCH = 4 };

static pace_status infer_scale(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    layer->parameters = layer->shape.channels;
    layer->tensors = 1;
    layer->multiply_adds[0] = layer->shape.channels;
    return PACE_OK;
}

static void forward_scale(pace_lowering *to, const pace_layer_view *view) {
    pace_emit_op(to, "test::scale", pace_emit_elementwise(to, "mul", view->elements, 2, 1, view->bytes));
}

static void backward_scale(pace_lowering *to, const pace_layer_view *view) {
    pace_emit_open_backward(to, "ScaleBackward0");
    pace_emit_op(to, "test::scale_backward", pace_emit_elementwise(to, "mul", view->elements, 2, 1, view->bytes));
    pace_emit_close_backward(to);
}

static double kept_scale(const pace_model *model, const pace_layer *layer, const pace_config *config, int bytes) {
    (void)model, (void)config, (void)bytes;
    return layer->option[PACE_OPTION_P] * 1000;
}

static const pace_layer_rule scale = {.word = "scale",
                                      .kind = PACE_LAYER_KINDS, /* none that anything else could ask for */
                                      .least = 1,
                                      .most = 1,
                                      .options = {{PACE_OPTION_P, 0.5}},
                                      .option_count = 1,
                                      .infer = infer_scale,
                                      .forward = forward_scale,
                                      .backward = backward_scale,
                                      .autocast = PACE_AUTOCAST_HALF,
                                      .keeps = PACE_KEEPS_INPUT,
                                      .kept_extra = kept_scale};

static void append(pace_model *model, const pace_layer_rule *rule) {
    pace_layer layer = rule ? pace_layer_make(rule) : (pace_layer){.kind = PACE_LAYER_INPUT, .word = "features"};
    uint32_t from = (uint32_t)model->layers.count - 1;
    if (!rule) layer.shape = (pace_shape){.channels = FEATURES, .height = 1, .width = 1};
    layer.training_only = rule && rule->kind == PACE_LAYER_LOSS;
    assert_int_equal(pace_model_append(model, layer, rule, rule ? rule->word : "x", &from, rule ? 1 : 0, NULL),
                     PACE_OK);
}

static pace_model make(const pace_layer_rule *rule) {
    pace_model model = {0};
    assert_int_equal(pace_names_init(&model.names), PACE_OK);
    append(&model, NULL);
    append(&model, pace_layer_rule_find("relu"));
    append(&model, rule);
    append(&model, pace_layer_rule_find("mse"));
    return model;
}

static int nodes(const pace_graph *graph, const char *name) {
    int count = 0;
    for (size_t i = 0; i < graph->nodes.count; i++)
        count += strcmp(pace_names_text(&graph->names, graph->nodes.items[i].name), name) == 0;
    return count;
}

TEST(test_a_row_is_a_kind) {
    pace_model model = make(&scale);
    pace_config config = pace_config_default();
    config.micro_batch = BATCH;
    pace_model_totals total = pace_model_total(&model, &config);
    assert_true(total.parameters == FEATURES);
    assert_true(total.multiply_adds == FEATURES);
    /* relu keeps its output, which is the input that the row says is kept: once. */
    assert_true(total.activation_bytes == FEATURES * 4 + 500);
    assert_int_equal(pace_layer_element_bytes(&model.layers.items[2], &config, 4), 4);
    config.precision = PACE_RUN_AMP;
    assert_int_equal(pace_layer_element_bytes(&model.layers.items[2], &config, 4), 2);
    config.precision = PACE_RUN_FP32;

    pace_graph graph;
    assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_OK);
    assert_int_equal(nodes(&graph, "test::scale"), 1);
    assert_int_equal(pace_graph_check(&graph), PACE_OK);
    pace_graph_free(&graph);
    pace_model_free(&model);
}

/* Something before it must learn, or there is no backward pass to lower. */
TEST(test_the_row_says_whether_gradients_are_dense) {
    for (int sparse = 0; sparse <= 1; sparse++) {
        pace_layer_rule rule = scale;
        pace_graph graph;
        rule.sparse = sparse;
        pace_model model = make(&rule);
        pace_config config = pace_config_default();
        config.micro_batch = BATCH;
        assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_OK);
        assert_int_equal(nodes(&graph, "test::scale_backward"), 1);
        double updated = 0;
        for (size_t i = 0; i < graph.launches.count; i++) {
            const pace_launch *launch = &graph.launches.items[i];
            if (graph.nodes.items[launch->node].stage == PACE_STAGE_UPDATE && launch->op != PACE_NO_OP)
                updated += graph.ops.items[launch->op].size[0];
        }
        assert_int_equal(updated > 0, !sparse); /* one tensor of the dense kind is all that the optimizer has */
        pace_graph_free(&graph);
        pace_model_free(&model);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
