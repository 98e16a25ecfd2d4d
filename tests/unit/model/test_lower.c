/* Lowered models: their arithmetic against closed counts, their structure, their executions. */
#include "model/lower.h"
#include "lowered_of_tests.h"
#include "model/pipeline_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

/* Multiply-adds of forward that backward does not repeat: for the gradient of an input before which nothing learns, and
 * for that of a frozen weight. */
static double without_input_gradient(const pace_model *model) {
    double sum = 0;
    bool *learns = calloc(model->layers.count, sizeof *learns);
    for (uint32_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        bool wants = false;
        for (uint32_t k = 0; k < layer->input_count; k++)
            wants = wants || learns[model->inputs.items[layer->first_input + k]];
        learns[i] = wants || (layer->parameters > 0 && !layer->frozen);
        bool product = layer->kind == PACE_LAYER_CONVOLUTION || layer->kind == PACE_LAYER_LINEAR;
        if (product)
            sum += (!wants + layer->frozen) * (layer->multiply_adds[0] + model->sequence * layer->multiply_adds[1]);
    }
    free(learns);
    return sum;
}

/* With all scores, those that windows hide too. */
static double all_multiply_adds(const pace_model *model, bool training) {
    double sum = 0, s = model->sequence;
    for (uint32_t i = 0; i < model->layers.count; i++) {
        if (model->layers.items[i].training_only && !training) continue;
        const double *work = model->layers.items[i].multiply_adds;
        sum += work[0] + s * (work[1] + s * work[2]);
    }
    return sum;
}

/* Every model: forward has the model's multiply-adds; training three times as many, but for gradients of inputs. */
static pace_status check_model(void *context, const pace_model *model) {
    (void)context;
    pace_config config = pace_config_default();
    config.micro_batch = 2;
    config.attention = PACE_ATTENTION_MATH; /* scores are formed in full */
    config.mode = PACE_INFERENCE;
    pace_graph graph = lower(model, &config);
    check_graph(&graph, model);
    double expected = 2 * 2 * all_multiply_adds(model, false), found = products(&graph);
    if (fabs(found / expected - 1) > 1e-9)
        fail_msg("%s: forward has %g flop, expected %g", pace_names_text(&model->names, model->name), found, expected);
    pace_graph_free(&graph);
    config.mode = PACE_TRAINING;
    graph = lower(model, &config);
    check_graph(&graph, model);
    expected = 2 * 2 * (3 * all_multiply_adds(model, true) - without_input_gradient(model));
    found = products(&graph);
    if (fabs(found / expected - 1) > 1e-9)
        fail_msg("%s: training has %g flop, expected %g", pace_names_text(&model->names, model->name), found, expected);
    pace_graph_free(&graph);
    return PACE_OK;
}

TEST(test_every_model) {
    if (pace_model_each(test_catalog(), check_model, NULL) != PACE_OK) fail_msg("%s", pace_message());
}

static const char *const some[] = {"lenet",     "resnet50", "inception_v3", "gnmt",         "dlrm_mlperf",
                                   "bert_base", "gpt2",     "llama3-8b",    "qwen3-30b-a3b"};
enum { SOME = sizeof some / sizeof *some };

/* Every way to run some models. */
TEST(test_every_mode) {
    for (size_t i = 0; i < SOME; i++) {
        pace_model model = load(some[i], NULL, 0);
        for (int variant = 0; variant < 6 * 3 * 2 * 3; variant++) {
            pace_config config = pace_config_default();
            config.micro_batch = 2;
            config.precision = variant % 6;
            config.execution = variant / 6 % 3;
            config.mode = variant / 18 % 2;
            config.attention = variant / 36;
            config.optimizer = variant % 6;
            config.update = variant / 2 % 3;
            config.keep_gradients = variant % 2;
            config.read_loss = config.mode == PACE_TRAINING ? PACE_LOSS_READ_LAST : PACE_LOSS_USUAL;
            config.input = variant % 3;
            config.global_batch = config.mode == PACE_TRAINING ? 4 : 0;
            if (pace_model_check_graphs(&model, &config) != PACE_OK) continue; /* experts are not captured whole */
            pace_graph graph = lower(&model, &config);
            check_graph(&graph, &model);
            pace_graph_free(&graph);
        }
        pace_model_free(&model);
    }
}

/* Bytes that all launches of a stage read and write. */
static double stage_bytes(const pace_graph *graph, pace_stage stage) {
    double bytes = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (graph->nodes.items[launch->node].stage != (uint8_t)stage || launch->op == PACE_NO_OP) continue;
        const pace_op *op = &graph->ops.items[launch->op];
        bytes += op->read_bytes + op->write_bytes;
    }
    return bytes;
}

/* LAMB reads the gradient for its norm; gradient, parameter and both moments, and writes the moments and a direction;
 * reads parameter and direction for their norms; and again, and writes the parameter: 13 tensors (Apex's
 * multi_tensor_lamb). */
TEST(test_lamb) {
    pace_model model = load("bert_base", NULL, 0);
    pace_config config = pace_config_default();
    config.optimizer = PACE_LAMB;
    for (config.update = PACE_UPDATE_FOREACH; config.update <= PACE_UPDATE_LOOP; config.update++) {
        pace_graph graph = lower(&model, &config);
        double bytes = 13 * 4 * pace_model_total(&model, &config).parameters;
        assert_true(fabs(stage_bytes(&graph, PACE_STAGE_UPDATE) / bytes - 1) < 1e-9);
        pace_graph_free(&graph);
    }
    assert_true(pace_model_total(&model, &config).optimizer_bytes == 8 * pace_model_total(&model, &config).parameters);
    pace_model_free(&model);
}

/* Bytes of one more layer in forward, of a sample's attention with one kernel and with scores. */
static double score_bytes(const char *name, int precision, int attention, int execution, bool by_hand) {
    double bytes[2];
    for (int l = 0; l < 2; l++) {
        pace_model_setting settings[] = {{.key = "layers", .value = 1 + l}, {.key = "seq", .value = 512}};
        pace_model model = load(name, settings, 2);
        pace_config config = pace_config_default();
        config.precision = precision, config.attention = attention, config.execution = execution;
        config.fuses_norms = by_hand;
        pace_graph graph = lower(&model, &config);
        bytes[l] = stage_bytes(&graph, PACE_STAGE_FORWARD);
        pace_graph_free(&graph);
        pace_model_free(&model);
    }
    return bytes[1] - bytes[0];
}

/* Scores are written, scaled, masked, made weights, dropped out (with a mask of a byte) and read: each pass reads and
 * writes them. PyTorch's autocast runs softmax in single precision. BERT's mask of padding is as wide as its
 * parameters, so that all that follows is too, until the product casts it; GPT-2 casts weights before dropout (Hugging
 * Face's BertSelfAttention, GPT2Attention). Between products a compiler's kernel reads scores and writes what backward
 * needs: weights, dropout's mask and output, 5 a s^2 b (Korthikanti et al. 2022, section 4.1). Megatron's kernel by
 * hand makes weights, reading half of the scores behind a causal mask (its scaled_upper_triang_masked_softmax.h), and
 * dropout reads them again. */
TEST(test_scores_in_memory) {
    enum { FP16 = 2 + 4 + 4 + 4 + 5 + 2, BERT = 2 + 4 + 6 + 8 + 9 + 6 + 2, GPT = 2 + 4 + 4 + 6 + 6 + 5 + 2 };
    enum { KEPT = 5, COMPILED = 2 + 2 + KEPT + 2, HAND = 2 + 2 + 2 + KEPT + 2, CAUSAL = 2 + 1 + 2 + KEPT + 2 };
    const struct {
        const char *model;
        int precision, execution;
        bool by_hand;
        int bytes;
    } cases[] = {{"bert_base", PACE_RUN_FP16, PACE_EAGER, false, FP16},
                 {"gpt2", PACE_RUN_FP16, PACE_EAGER, false, FP16},
                 {"bert_base", PACE_RUN_AMP, PACE_EAGER, false, BERT},
                 {"gpt2", PACE_RUN_AMP, PACE_EAGER, false, GPT},
                 {"bert_base", PACE_RUN_FP16, PACE_COMPILED, false, COMPILED},
                 {"gpt2", PACE_RUN_FP16, PACE_COMPILED, false, COMPILED},
                 {"bert_base", PACE_RUN_FP16, PACE_COMPILED, true, HAND},
                 {"gpt2", PACE_RUN_FP16, PACE_COMPILED, true, CAUSAL}};
    double scores = 12.0 * 512 * 512;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double bytes[2];
        for (int fused = 0; fused < 2; fused++)
            bytes[fused] =
                score_bytes(cases[i].model, cases[i].precision, fused ? PACE_ATTENTION_FUSED : PACE_ATTENTION_MATH,
                            cases[i].execution, cases[i].by_hand);
        double more = bytes[0] - bytes[1];
        assert_true(fabs(more / (cases[i].bytes * scores) - 1) <
                    0.06); /* and one copy of the output, and kernels' own tensors */
    }
}

/* Unless given: BERT's modules form scores, unless a compiler finds them; GPT's and Llama's take one kernel. */
TEST(test_usual_attention) {
    const struct {
        const char *model;
        int execution, attention;
    } cases[] = {{"bert_base", PACE_EAGER, PACE_ATTENTION_MATH},
                 {"bert_base", PACE_COMPILED, PACE_ATTENTION_FUSED},
                 {"gpt2", PACE_EAGER, PACE_ATTENTION_FUSED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(score_bytes(cases[i].model, PACE_RUN_AMP, PACE_ATTENTION_USUAL, cases[i].execution, false) ==
                    score_bytes(cases[i].model, PACE_RUN_AMP, cases[i].attention, cases[i].execution, false));
}

/* Narayanan et al. 2021, equation 3 without recomputation: 72 B s l h^2 (1 + s / 6h + V / 12 l h), which is 6 N D with
 * attention and output layer. A fused causal kernel skips half of the scores, and forms those of backward anew. */
TEST(test_transformer_flop) {
    double h = 768, l = 5, s = 256, v = 50257, b = 3;
    pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                     {.key = "layers", .value = l},
                                     {.key = "seq", .value = s},
                                     {.key = "vocab", .value = v}};
    pace_model model = load("gpt", settings, 4);
    pace_config config = pace_config_default();
    config.micro_batch = b;
    config.attention = PACE_ATTENTION_MATH;
    pace_graph graph = lower(&model, &config);
    double flop = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    assert_true(fabs(products(&graph) / flop - 1) < 1e-12);
    pace_graph_free(&graph);
    config.attention = PACE_ATTENTION_FUSED;
    graph = lower(&model, &config);
    double scores = 12 * b * l * s * s * h; /* forward and backward, in full */
    assert_true(fabs(products(&graph) / (flop - scores + (2 + 5) / 12.0 * scores) - 1) < 1e-12);
    pace_graph_free(&graph);
    pace_model_free(&model);
}

/* The same with every layer's forward run again: 96 B s l h^2 (1 + s / 6h + V / 16 l h), equation 3 as printed; with
 * its attention alone (Korthikanti et al. 2022, section 5), 4 B s^2 h l more. */
TEST(test_recomputation) {
    double h = 768, l = 5, s = 256, v = 50257, b = 3;
    pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                     {.key = "layers", .value = l},
                                     {.key = "seq", .value = s},
                                     {.key = "vocab", .value = v}};
    pace_model model = load("gpt", settings, 4);
    pace_config config = pace_config_default();
    config.micro_batch = b;
    config.attention = PACE_ATTENTION_MATH;
    config.recompute = PACE_RECOMPUTE_FULL;
    pace_graph graph = lower(&model, &config);
    check_graph(&graph, &model);
    double flop = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    assert_true(fabs(products(&graph) / flop - 1) < 1e-12);
    pace_graph_free(&graph);
    config.recompute = PACE_RECOMPUTE_SELECTIVE;
    graph = lower(&model, &config);
    check_graph(&graph, &model);
    flop = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h)) + 4 * b * s * s * h * l;
    assert_true(fabs(products(&graph) / flop - 1) < 1e-12);
    pace_graph_free(&graph);
    pace_model_free(&model);
}

static double family_flop(const pace_graph *graph, pace_op_family family) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (launch->op != PACE_NO_OP && graph->ops.items[launch->op].family == family &&
            stage_of(graph, launch) != PACE_STAGE_UPDATE)
            sum += graph->ops.items[launch->op].flop;
    }
    return sum;
}

TEST(test_batch_doubles) {
    static const pace_op_family families[] = {PACE_OP_GEMM,    PACE_OP_CONVOLUTION,   PACE_OP_ATTENTION,
                                              PACE_OP_SOFTMAX, PACE_OP_NORMALIZATION, PACE_OP_POOLING,
                                              PACE_OP_LOSS};
    for (size_t i = 0; i < SOME; i++) {
        pace_model model = load(some[i], NULL, 0);
        pace_config config = pace_config_default();
        config.micro_batch = 256; /* enough tokens for every expert */
        if (strcmp(some[i], "resnet50") != 0 && model.sequence > 0) config.micro_batch = 4;
        pace_graph once = lower(&model, &config);
        config.micro_batch *= 2;
        pace_graph twice = lower(&model, &config);
        assert_int_equal(once.launches.count, twice.launches.count);
        assert_int_equal(once.nodes.count, twice.nodes.count);
        for (size_t f = 0; f < sizeof families / sizeof *families; f++)
            if (fabs(family_flop(&twice, families[f]) - 2 * family_flop(&once, families[f])) >
                1e-9 * family_flop(&twice, families[f]))
                fail_msg("%s: %s does not double", some[i], pace_op_family_name(families[f]));
        pace_graph_free(&once);
        pace_graph_free(&twice);
        pace_model_free(&model);
    }
}

TEST(test_deterministic) {
    for (size_t i = 0; i < SOME; i++) {
        pace_model one = load(some[i], NULL, 0), two = load(some[i], NULL, 0);
        pace_config config = pace_config_default();
        pace_graph a = lower(&one, &config), b = lower(&two, &config);
        assert_int_equal(a.nodes.count, b.nodes.count);
        assert_int_equal(a.launches.count, b.launches.count);
        assert_int_equal(a.ops.count, b.ops.count);
        assert_int_equal(a.names.bytes.count, b.names.bytes.count);
        assert_memory_equal(a.names.bytes.items, b.names.bytes.items, a.names.bytes.count);
        for (size_t k = 0; k < a.nodes.count; k++) {
            const pace_graph_node *x = &a.nodes.items[k], *y = &b.nodes.items[k];
            assert_true(x->name == y->name && x->parent == y->parent && x->module == y->module &&
                        x->after == y->after && x->waits_node == y->waits_node && x->stage == y->stage);
        }
        for (size_t k = 0; k < a.launches.count; k++)
            assert_true(a.launches.items[k].op == b.launches.items[k].op &&
                        a.launches.items[k].node == b.launches.items[k].node);
        for (size_t k = 0; k < a.ops.count; k++) assert_true(pace_op_equal(&a.ops.items[k], &b.ops.items[k]));
        pace_graph_free(&a);
        pace_graph_free(&b);
        pace_model_free(&one);
        pace_model_free(&two);
    }
}

static pace_model tiny(void) {
    static const char text[] = "family: tiny\nabout: a\nsource: s\ninputs: {x: {features: 4}}\nloss: mse\n"
                               "layers: [linear: 8, relu, add: [[], [linear: {out: 8, bias: 0}]]]\n";
    pace_yaml *yaml = NULL;
    pace_model model;
    assert_int_equal(pace_yaml_parse(&yaml, "tiny.yaml", text, strlen(text)), PACE_OK);
    if (pace_model_build(&model, yaml, NULL, NULL, 0) != PACE_OK) fail_msg("%s", pace_message());
    pace_yaml_free(yaml);
    return model;
}

/* What a PyTorch 2 profile of this model shows at top level, thread by thread. */
TEST(test_structure) {
#define EVALUATE "autograd::engine::evaluate_function: "
    static const char *const expected[2][16] = {
        {"aten::to", "aten::to", "Optimizer.zero_grad#SGD.zero_grad", "aten::linear", "aten::relu_", "aten::linear",
         "aten::add_", "aten::mse_loss", "aten::ones_like", "## backward ##", "Optimizer.step#SGD.step", NULL},
        {EVALUATE "MseLossBackward0", EVALUATE "AddBackward0", EVALUATE "MmBackward0", EVALUATE "TBackward0",
         EVALUATE "torch::autograd::AccumulateGrad", EVALUATE "ReluBackward0", EVALUATE "AddmmBackward0",
         EVALUATE "TBackward0", EVALUATE "torch::autograd::AccumulateGrad", EVALUATE "torch::autograd::AccumulateGrad",
         NULL},
    };
    pace_model model = tiny();
    pace_config config = pace_config_default();
    config.micro_batch = 16;
    pace_graph graph = lower(&model, &config);
    size_t at[2] = {0, 0};
    uint32_t caller = PACE_NO_NODE, first = PACE_NO_NODE, last = PACE_NO_NODE, loss = PACE_NO_NODE;
    for (uint32_t i = 0; i < graph.nodes.count; i++) {
        const pace_graph_node *node = &graph.nodes.items[i];
        const char *name = pace_names_text(&graph.names, node->name);
        if (node->parent != PACE_NO_NODE) continue;
        assert_non_null(expected[node->thread][at[node->thread]]);
        assert_string_equal(name, expected[node->thread][at[node->thread]++]);
        if (strcmp(name, "## backward ##") == 0) caller = i;
        if (strcmp(name, "aten::ones_like") == 0) loss = i;
        if (node->thread == 1 && first == PACE_NO_NODE) first = i;
        if (node->thread == 1) last = i;
    }
    assert_null(expected[0][at[0]]);
    assert_null(expected[1][at[1]]);
    assert_int_equal(graph.nodes.items[caller].waits_node, last);
    uint32_t after = graph.nodes.items[first].after;
    while (graph.nodes.items[after].parent != PACE_NO_NODE) after = graph.nodes.items[after].parent;
    assert_int_equal(after, loss);
    /* 2 copies; 2 products, relu, add, loss; fill; loss, 2 + 2 products, the relu's, the sum of two gradients
     * at its output, the bias's; update. The first linear forms no gradient of its input. */
    assert_int_equal(graph.launches.count, 2 + 5 + 1 + 1 + 2 + 1 + 1 + 1 + 1 + 1);
    assert_true(products(&graph) == 2.0 * 16 * (4 * 8 * 2 + 8 * 8 * 3));
    pace_graph_free(&graph);
    pace_model_free(&model);
}

static size_t count_named(const pace_graph *graph, const char *name, uint32_t thread) {
    size_t count = 0;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].thread == thread &&
            strcmp(pace_names_text(&graph->names, graph->nodes.items[i].name), name) == 0)
            count++;
    return count;
}

/* A measured step of ResNet-50 under DistributedDataParallel on two A100 (HolisticTraceAnalysis,
 * tests/data/nccl_parser_config, rank 0, ProfilerStep#5): how often each operator occurs, on which thread. */
TEST(test_measured_resnet50) {
    static const struct {
        const char *name;
        uint32_t thread;
        size_t count;
    } measured[] = {
        {"aten::conv2d", 0, 53},
        {"aten::cudnn_convolution", 0, 53},
        {"aten::batch_norm", 0, 53},
        {"aten::cudnn_batch_norm", 0, 53},
        {"aten::relu_", 0, 49},
        {"aten::add_", 0, 69}, /* 16 branches, and the 53 counters of batches */
        {"aten::linear", 0, 1},
        {"aten::max_pool2d", 0, 1},
        {"aten::adaptive_avg_pool2d", 0, 1},
        {"ConvolutionBackward0", 1, 53},
        {"aten::convolution_backward", 1, 53},
        {"CudnnBatchNormBackward0", 1, 53},
        {"ReluBackward0", 1, 49},
        {"aten::threshold_backward", 1, 49},
        {"AddBackward0", 1, 16},
        {"aten::add_", 1, 16},
        {"AddmmBackward0", 1, 1},
        {"TBackward0", 1, 1},
        {"ViewBackward0", 1, 1},
        {"MeanBackward1", 1, 1},
        {"MaxPool2DWithIndicesBackward0", 1, 1},
        {"aten::mm", 1, 2},
        {"torch::autograd::AccumulateGrad", 1, 161},
        {"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1, 161},
        {"torch::distributed::reducer::mul_out", 1, 161},
        {"torch.distributed.ddp.reducer::copy_bucket_to_grad", 1, 161},
        {"c10d::allreduce_", 1, 5},
        {"aten::_foreach_add_", 0, 2},
    };
    pace_model model = load("resnet50", NULL, 0);
    pace_config config = pace_config_default();
    config.micro_batch = 32;
    config.dp = 2;
    config.optimizer = PACE_MOMENTUM;
    pace_graph graph = lower(&model, &config);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        size_t found = count_named(&graph, measured[i].name, measured[i].thread);
        if (found != measured[i].count) fail_msg("%s: %zu, measured %zu", measured[i].name, found, measured[i].count);
    }
    pace_graph_free(&graph);
    pace_model_free(&model);
}

/* The same network in 2021 (pytorch/kineto, tb_plugin samples, V100): gradients were zeroed and added to, and the
 * update was a loop over 161 tensors. */
TEST(test_measured_loop) {
    pace_model model = load("resnet50", NULL, 0);
    pace_config config = pace_config_default();
    config.micro_batch = 32;
    config.optimizer = PACE_MOMENTUM;
    config.update = PACE_UPDATE_LOOP;
    config.keep_gradients = 1;
    pace_graph graph = lower(&model, &config);
    assert_int_equal(count_named(&graph, "aten::mul_", 0), 161);
    assert_int_equal(count_named(&graph, "aten::zero_", 0), 161);
    /* 499 in the trace, where the counters of batches and sums of gradients were aten::add: 53 + 16 of them */
    assert_int_equal(count_named(&graph, "aten::add_", 0) + count_named(&graph, "aten::add_", 1), 499 + 53 + 16);
    pace_graph_free(&graph);
    pace_model_free(&model);
}

static size_t count_family(const pace_graph *graph, pace_op_family family) {
    size_t count = 0;
    for (size_t i = 0; i < graph->launches.count; i++)
        if (graph->launches.items[i].op != PACE_NO_OP && graph->ops.items[graph->launches.items[i].op].family == family)
            count++;
    return count;
}

static double bytes_of(const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++)
        if (graph->launches.items[i].op != PACE_NO_OP)
            sum += graph->ops.items[graph->launches.items[i].op].read_bytes +
                   graph->ops.items[graph->launches.items[i].op].write_bytes;
    return sum;
}

/* Fusion keeps every product and moves fewer bytes; a graph keeps every launch and is one call. */
TEST(test_executions) {
    for (size_t i = 0; i < SOME; i++) {
        pace_model model = load(some[i], NULL, 0);
        pace_config config = pace_config_default();
        pace_graph eager = lower(&model, &config);
        config.execution = PACE_COMPILED;
        pace_graph compiled = lower(&model, &config);
        assert_int_equal(count_family(&eager, PACE_OP_GEMM), count_family(&compiled, PACE_OP_GEMM));
        assert_int_equal(count_family(&eager, PACE_OP_CONVOLUTION), count_family(&compiled, PACE_OP_CONVOLUTION));
        assert_true(products(&eager) == products(&compiled));
        assert_true(compiled.launches.count <= eager.launches.count);
        assert_true(strcmp(some[i], "lenet") == 0 || compiled.launches.count < eager.launches.count);
        assert_true(compiled.nodes.count < eager.nodes.count / 2);
        assert_true(bytes_of(&compiled) <= bytes_of(&eager));
        config.execution = PACE_CUDA_GRAPH;
        if (pace_model_check_graphs(&model, &config) != PACE_OK) config.mode = PACE_INFERENCE; /* experts */
        pace_graph captured = lower(&model, &config);
        assert_true(config.mode == PACE_INFERENCE || products(&captured) == products(&eager));
        size_t calls = 0, uncaptured = 0;
        for (size_t k = 0; k < captured.launches.count; k++)
            if (strcmp(pace_names_text(&captured.names, captured.launches.items[k].call), "cudaGraphLaunch") == 0)
                calls += !captured.launches.items[k].same_call;
            else uncaptured++;
        assert_true(calls == 1 && uncaptured <= 4); /* the inputs' copies, and a loss that is read */
        pace_graph_free(&eager);
        pace_graph_free(&compiled);
        pace_graph_free(&captured);
        pace_model_free(&model);
    }
}

/* Read and written by what hangs on parameters and on no sample. */
static double parameter_bytes(const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (launch->op == PACE_NO_OP || launch->samples != PACE_SAMPLES_NONE) continue;
        sum += graph->ops.items[launch->op].read_bytes + graph->ops.items[launch->op].write_bytes;
    }
    return sum;
}

/* A compiler returns gradients, which autograd casts, keeps and adds: that moves as many bytes as in an eager step. */
TEST(test_compiled_gradients) {
    pace_model model = load("gpt2", NULL, 0);
    pace_config config = pace_config_default();
    config.precision = PACE_RUN_AMP;
    config.global_batch = 2 * config.micro_batch;
    pace_graph eager = lower(&model, &config);
    config.execution = PACE_COMPILED;
    pace_graph compiled = lower(&model, &config);
    assert_true(parameter_bytes(&eager) > 4 * 124e6); /* parameters of GPT-2 small, in single precision */
    assert_true(fabs(parameter_bytes(&compiled) / parameter_bytes(&eager) - 1) < 1e-12);
    pace_graph_free(&eager);
    pace_graph_free(&compiled);
    pace_model_free(&model);
}

/* GPT-2 small has two norms in each of 12 layers and one behind them (Radford et al. 2019). */
TEST(test_norms_by_hand) {
    pace_model model = load("gpt2", NULL, 0);
    pace_config config = pace_config_default();
    config.execution = PACE_COMPILED;
    config.fuses_norms = true;
    pace_graph graph = lower(&model, &config);
    assert_int_equal(count_family(&graph, PACE_OP_NORMALIZATION), 2 * (2 * 12 + 1));
    pace_graph_free(&graph);
    pace_model_free(&model);
}

/* A captured step of several micro-batches has each of them copied before it begins. */
TEST(test_captured_batches) {
    pace_model model = load("resnet50", NULL, 0);
    pace_config config = pace_config_default();
    config.global_batch = 3 * config.micro_batch;
    pace_graph eager = lower(&model, &config);
    config.execution = PACE_CUDA_GRAPH;
    pace_graph captured = lower(&model, &config);
    assert_int_equal(count_family(&captured, PACE_OP_TRANSFER), 3 * 2); /* images and targets */
    assert_int_equal(count_family(&eager, PACE_OP_TRANSFER), 3 * 2);
    pace_graph_free(&eager);
    pace_graph_free(&captured);
    pace_model_free(&model);
}

TEST(test_refused) {
    static const char *const cases[][2] = {{"pp", "2"},  {"cp", "2"},           {"ep", "2"},
                                           {"vpp", "2"}, {"global_batch", "7"}, {"sequence", "64"}};
    pace_model model = load("lenet", NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_config config = pace_config_default();
        pace_graph graph;
        config.micro_batch = 4;
        assert_int_equal(pace_config_set(&config, cases[i][0], cases[i][1]), PACE_OK);
        assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_E_USAGE);
    }
    pace_model_free(&model);
    pace_config config = pace_config_default();
    pace_graph graph;
    config.sequence = 1e8;
    model = load("gnmt", NULL, 0);
    assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_E_LIMIT);
    pace_model_free(&model);
}

static void fail_allocations(const pace_model *model, const pace_config *config, uint32_t stage) {
    int64_t before = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        pace_graph graph;
        pace_memory_fail_at(n);
        status = pace_model_lower(&graph, model, config, stage);
        pace_memory_fail_at(0);
        assert_true(status == PACE_OK || status == PACE_E_MEMORY);
        if (status == PACE_OK) pace_graph_free(&graph);
        assert_int_equal(pace_memory_live(), before);
    }
}

TEST(test_allocations_fail) {
    pace_model model = load("lenet", NULL, 0);
    pace_config config = pace_config_default();
    fail_allocations(&model, &config, 0);
    pace_model_free(&model);
    pace_model_setting settings[] = {{.key = "hidden", .value = 64},
                                     {.key = "layers", .value = 4},
                                     {.key = "heads", .value = 4},
                                     {.key = "seq", .value = 16}};
    model = load("gpt", settings, 4);
    config.pp = config.vpp = config.dp = 2;
    config.zero_stage = 3;
    config.global_batch = 4;
    config.schedule = PACE_SCHEDULE_ZERO_BUBBLE;
    fail_allocations(&model, &config, 1);
    pace_model_free(&model);
}

int main(void) {
    unsetenv("PACELINE_CATALOG");
    return run_tests_of_file(NULL, NULL);
}
