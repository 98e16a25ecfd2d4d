#include "model/lower.h"

#include "model/emit.h"
#include "model/lower_ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pace_status refuse(const char *what) {
    return pace_fail(PACE_E_USAGE, "%s: a model's step is not built with it yet, expected none", what);
}

static pace_status check_config(const pace_model *model, const pace_config *config) {
    PACE_TRY(pace_config_check(config));
    if (config->pp > 1 || config->vpp > 1) return refuse("pipeline parallelism");
    if (config->zero_stage > 0) return refuse("ZeRO");
    PACE_TRY(pace_model_check_parallel(model, config));
    if (model->sequence > 0 || config->sequence == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "the model \"%s\" has no sequence whose length could be set",
                     pace_names_text(&model->names, model->name));
}

/* An output needs a gradient when a layer before it, or its own, has parameters. */
static void plan_layers(pace_lowering *to) {
    const pace_model *model = to->model;
    for (uint32_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        int widest = 0;
        to->needs_gradient[i] = layer->parameters > 0 || layer->option[PACE_OPTION_TIED] > 0;
        for (uint32_t k = 0; k < layer->input_count; k++) {
            uint32_t from = model->inputs.items[layer->first_input + k];
            to->uses[from]++;
            if (to->needs_gradient[from]) to->needs_gradient[i] = true;
            if (to->bytes[from] > widest) widest = to->bytes[from];
        }
        to->bytes[i] = pace_layer_element_bytes(layer, to->config, widest);
    }
}

/* Elements of the targets: one class or token for each place of the output. */
static double target_bytes(const pace_lowering *to) {
    double sum = 0;
    for (size_t i = 0; i < to->model->layers.count; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        if (layer->kind == PACE_LAYER_LOSS && sum == 0)
            sum = layer->word[0] == 'c' ? 8 * pace_emit_places(to, &layer->shape)
                                        : 4 * pace_emit_elements(to, &layer->shape);
    }
    return sum;
}

static void copy_in(pace_lowering *to, double bytes) {
    bool pinned = to->config->input == PACE_INPUT_PINNED;
    pace_emit_open(to, "aten::to");
    pace_emit_open(to, "aten::_to_copy");
    pace_emit_op(to, "aten::copy_", pace_emit_transfer(pinned ? "h2d_pinned" : "h2d_pageable", bytes));
    pace_emit_close(to);
    pace_emit_close(to);
}

static void lower_input(pace_lowering *to) {
    to->stage = PACE_STAGE_INPUT;
    to->module = 0;
    if (to->config->input == PACE_INPUT_SYNTHETIC) return;
    for (uint32_t i = 0; i < to->model->layers.count; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        int bytes = to->bytes[i] == 8 ? 8 : 4; /* images come in single precision */
        if (layer->kind == PACE_LAYER_INPUT) copy_in(to, bytes * pace_emit_elements(to, &layer->shape));
    }
    if (to->config->mode == PACE_TRAINING) copy_in(to, target_bytes(to));
}

static pace_name module_of(pace_lowering *to, uint32_t layer) {
    return pace_emit_name(to, pace_names_text(&to->model->names, to->model->layers.items[layer].name));
}

/* compiled: what follows is issued by one operator. */
static void enter_region(pace_lowering *to, const char *name) {
    if (to->config->execution != PACE_COMPILED) return;
    pace_emit_open(to, name);
    if (to->status == PACE_OK) to->region = to->open[to->depth - 1];
}

static void leave_region(pace_lowering *to) {
    if (to->config->execution != PACE_COMPILED) return;
    pace_emit_flush(to);
    to->region = PACE_NO_NODE;
    pace_emit_close(to);
}

/* One operator asks the servers for all parameters at once, when the token says that they are of this step. */
static void lower_pulls(pace_lowering *to) {
    to->stage = PACE_STAGE_FORWARD;
    pace_emit_op(to, "aten::fill_", pace_emit_copy(to, "fill", 1, 4));
    pace_emit_open(to, "c10d::pull_");
    for (uint32_t i = 0; i < to->model->layers.count && to->status == PACE_OK; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        double elements = layer->rule->sparse ? 0 : pace_lower_parameters(to, layer);
        if (elements > 0) to->pulls[i] = pace_emit_pull(to, elements * pace_config_parameter_bytes(to->config));
    }
    pace_emit_close(to);
}

static void lower_forward(pace_lowering *to) {
    bool training = to->config->mode == PACE_TRAINING;
    to->stage = PACE_STAGE_FORWARD;
    enter_region(to, "Torch-Compiled Region: 0/0");
    for (uint32_t i = 0; i < to->model->layers.count && to->status == PACE_OK; i++) {
        if (to->model->layers.items[i].training_only && !training) continue;
        to->module = module_of(to, i);
        if (to->pulls[i] != PACE_NO_LAUNCH) to->await_pull = to->pulls[i]; /* those before have come by then */
        pace_lower_forward(to, i);
    }
    to->module = 0;
    leave_region(to);
}

/* Full recomputation: before its backward, a segment's forward runs again (torch.utils.checkpoint), on autograd's
 * thread. */
static void recompute_segment(pace_lowering *to, uint32_t last) {
    const pace_layer *layers = to->model->layers.items;
    uint32_t segment = layers[last].segment, first = last;
    while (first > 0 && layers[first - 1].segment == segment) first--;
    if (to->region == PACE_NO_NODE) pace_emit_annotation(to, "CheckpointFunctionBackward");
    for (uint32_t i = first; i <= last && to->status == PACE_OK; i++) {
        to->module = module_of(to, i);
        pace_lower_forward(to, i);
    }
    if (to->region == PACE_NO_NODE) pace_emit_close(to);
}

static void recompute_before(pace_lowering *to, uint32_t number) {
    const pace_layer *layer = &to->model->layers.items[number];
    bool last = number + 1 == to->model->layers.count || layer[1].segment != layer->segment;
    if (to->config->recompute == PACE_RECOMPUTE_FULL && layer->segment > 0 && last) recompute_segment(to, number);
    if (to->config->recompute == PACE_RECOMPUTE_SELECTIVE && layer->rule->recomputed &&
        to->config->attention == PACE_ATTENTION_MATH)
        pace_lower_forward(to, number);
}

static void backward_layers(pace_lowering *to) {
    memset(to->gradients, 0, to->model->layers.count * sizeof *to->gradients);
    enter_region(to, "CompiledFunctionBackward");
    for (uint32_t i = (uint32_t)to->model->layers.count; i-- > 0 && to->status == PACE_OK;) {
        recompute_before(to, i);
        to->module = module_of(to, i);
        pace_lower_backward(to, i);
    }
    to->module = 0;
    if (to->exchanges_gradients) pace_lower_last_bucket(to);
    leave_region(to);
}

/* Thread 0 gives autograd's thread the loss and waits until it is done. In a CUDA graph there are no threads. */
static void lower_backward(pace_lowering *to) {
    bool threads = to->region == PACE_NO_NODE;
    uint32_t caller = PACE_NO_NODE;
    to->stage = PACE_STAGE_BACKWARD;
    if (threads) {
        pace_emit_open(to, "aten::ones_like");
        pace_emit_op(to, "aten::fill_", pace_emit_copy(to, "fill", 1, 4));
        pace_emit_close(to);
        uint32_t loss = to->last_node[0];
        pace_emit_annotation(to, "## backward ##");
        caller = to->last_node[0];
        pace_emit_close(to);
        to->thread = 1;
        to->after = loss;
    }
    backward_layers(to);
    if (!threads) return;
    to->thread = 0;
    to->after = PACE_NO_NODE;
    uint32_t last = to->last_node[1];
    if (to->status != PACE_OK || last == PACE_NO_NODE) return;
    while (to->graph->nodes.items[last].parent != PACE_NO_NODE) last = to->graph->nodes.items[last].parent;
    to->graph->nodes.items[caller].waits_node = last;
}

/* What each optimizer does with a tensor (PyTorch's torch/optim); "foreach" does it with all tensors at once. */
typedef struct {
    const char *name; /* behind "aten::" or "aten::_foreach_" */
    double inputs;
} update_pass;

static const update_pass sgd[] = {{"add_", 2}, {0}};
static const update_pass momentum[] = {{"mul_", 1}, {"add_", 2}, {"add_", 2}, {0}};
static const update_pass adam[] = {{"lerp_", 2}, {"mul_", 1}, {"addcmul_", 2}, {"sqrt", 1},
                                   {"div_", 1},  {"add_", 1}, {"addcdiv_", 3}, {0}};
static const update_pass adamw[] = {{"mul_", 1},     {"lerp_", 2},    {"mul_", 1},
                                    {"addcmul_", 2}, {"sqrt", 1},     {"div_", 1},
                                    {"add_", 1},     {"addcdiv_", 3}, {0}};

static const struct {
    const char *step, *zero, *fused, *kind;
    const update_pass *passes;
} optimizers[] = {
    [PACE_SGD] = {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", "aten::_fused_sgd_", "sgd", sgd},
    [PACE_MOMENTUM] = {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", "aten::_fused_sgd_", "momentum",
                       momentum},
    [PACE_ADAM] = {"Optimizer.step#Adam.step", "Optimizer.zero_grad#Adam.zero_grad", "aten::_fused_adam_", "adam",
                   adam},
    [PACE_ADAMW] = {"Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad", "aten::_fused_adamw_", "adamw",
                    adamw},
};

/* Parameters that the optimizer updates: the rows of embedding bags are updated where their gradient is formed. */
static void count_parameters(const pace_lowering *to, double *parameters, double *tensors) {
    *parameters = *tensors = 0;
    for (size_t i = 0; i < to->model->layers.count; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        if (layer->rule->sparse) continue;
        *parameters += pace_lower_parameters(to, layer);
        *tensors += layer->tensors;
    }
}

/* One operation on one tensor, or on all of them. */
static void update_with(pace_lowering *to, const update_pass *pass, double elements) {
    bool all = to->config->update == PACE_UPDATE_FOREACH;
    char name[64], kind[24];
    snprintf(name, sizeof name, all ? "aten::_foreach_%s" : "aten::%s", pass->name);
    snprintf(kind, sizeof kind, all ? "foreach_%.*s" : "%.*s", (int)strcspn(pass->name, "_"), pass->name);
    pace_emit_op(to, name,
                 pace_emit_elementwise(to, kind, elements, pass->inputs, 1, pace_config_parameter_bytes(to->config)));
}

/* Before the first backward pass tells the tensors apart, they are taken to be of one size. */
static void lower_zero_grad(pace_lowering *to) {
    double parameters, tensors;
    bool annotated = to->region == PACE_NO_NODE, loop = to->config->update == PACE_UPDATE_LOOP;
    int bytes = pace_config_parameter_bytes(to->config);
    to->stage = PACE_STAGE_UPDATE;
    if (annotated) pace_emit_annotation(to, optimizers[to->config->optimizer].zero);
    count_parameters(to, &parameters, &tensors);
    for (double i = 0; loop && to->config->keep_gradients > 0 && i < tensors; i++) {
        pace_emit_open(to, "aten::zero_");
        pace_emit_op(to, "aten::fill_", pace_emit_copy(to, "fill", parameters / tensors, bytes));
        pace_emit_close(to);
    }
    if (!loop && to->config->keep_gradients > 0 && parameters > 0)
        pace_emit_op(to, "aten::_foreach_zero_", pace_emit_copy(to, "fill", parameters, bytes));
    if (annotated) pace_emit_close(to);
}

static void update_all(pace_lowering *to, double parameters, double tensors) {
    int bytes = pace_config_parameter_bytes(to->config), optimizer = to->config->optimizer;
    const update_pass *passes = optimizers[optimizer].passes;
    if (to->config->precision == PACE_RUN_AMP) /* gradients are unscaled, and looked through for infinities */
        pace_emit_op(to, "aten::_amp_foreach_non_finite_check_and_unscale_",
                     pace_emit_elementwise(to, "foreach_unscale", parameters, 1, 1, bytes));
    if (to->config->update == PACE_UPDATE_FUSED)
        pace_emit_op(to, optimizers[optimizer].fused,
                     pace_emit_rows(to, PACE_OP_OPTIMIZER, optimizers[optimizer].kind, PACE_PASS_FORWARD, parameters,
                                    tensors, bytes));
    if (to->config->update == PACE_UPDATE_FOREACH)
        for (const update_pass *pass = passes; pass->name; pass++) update_with(to, pass, parameters);
    if (to->config->update == PACE_UPDATE_LOOP)
        for (size_t i = 0; i < to->tensors.count; i++)
            for (const update_pass *pass = passes; pass->name; pass++)
                update_with(to, pass, to->tensors.items[i].elements);
}

static void lower_update(pace_lowering *to) {
    double parameters, tensors;
    count_parameters(to, &parameters, &tensors);
    to->stage = PACE_STAGE_UPDATE;
    if (to->region == PACE_NO_NODE) pace_emit_annotation(to, optimizers[to->config->optimizer].step);
    if (parameters > 0) update_all(to, parameters, tensors);
    if (to->region == PACE_NO_NODE) pace_emit_close(to);
}

static void lower_read_loss(pace_lowering *to) {
    to->stage = PACE_STAGE_OTHER;
    if (to->config->read_loss <= 0) return;
    pace_emit_open(to, "aten::item");
    pace_emit_op(to, "aten::_local_scalar_dense", pace_emit_transfer("d2h_pageable", 4));
    uint32_t node = to->last_node[0];
    if (to->status == PACE_OK) to->graph->nodes.items[node].waits_launch = to->last_launch;
    pace_emit_close(to);
}

/* graph: a stage is an annotation under the one operator, so that what it launches has a stage. */
static void enter_stage(pace_lowering *to, pace_stage stage, const char *name) {
    if (to->config->execution != PACE_CUDA_GRAPH) return;
    to->stage = stage;
    pace_emit_annotation(to, name);
    if (to->status == PACE_OK) to->region = to->last_node[0];
}

static void leave_stage(pace_lowering *to) {
    if (to->config->execution != PACE_CUDA_GRAPH) return;
    pace_emit_flush(to);
    pace_emit_close(to);
}

static void lower_step(pace_lowering *to) {
    bool training = to->config->mode == PACE_TRAINING, graph = to->config->execution == PACE_CUDA_GRAPH;
    bool updates = training && to->config->optimizer != PACE_NO_UPDATE;
    double micro_batches = pace_config_micro_batches(to->config);
    bool pulls = to->config->gradients == PACE_GRADIENTS_PULLED && pace_config_shares_gradients(to->config);
    if (pulls && training) lower_pulls(to);
    lower_input(to);
    if (graph) { /* captured: it begins with zeroed gradients and holds the update */
        to->stage = PACE_STAGE_FORWARD;
        pace_emit_open(to, "CUDAGraph.replay");
        to->call = pace_emit_name(to, "cudaGraphLaunch");
    } else if (updates) {
        lower_zero_grad(to);
    }
    for (double i = 0; i < micro_batches && to->status == PACE_OK; i++) {
        to->accumulates = i > 0;
        to->exchanges_gradients = i + 1 == micro_batches;
        if (i > 0 && !graph) lower_input(to);
        enter_stage(to, PACE_STAGE_FORWARD, "## forward ##");
        lower_forward(to);
        leave_stage(to);
        if (!training) continue;
        enter_stage(to, PACE_STAGE_BACKWARD, "## backward ##");
        lower_backward(to);
        leave_stage(to);
    }
    if (updates) {
        enter_stage(to, PACE_STAGE_UPDATE, "## optimizer ##");
        lower_update(to);
        leave_stage(to);
    }
    if (graph) {
        to->region = PACE_NO_NODE;
        to->call = 0;
        pace_emit_close(to);
    }
    lower_read_loss(to);
}

pace_status pace_lowering_begin(pace_lowering *out, pace_graph *graph, const pace_model *model,
                                const pace_config *config) {
    size_t count = model->layers.count + 1;
    pace_lowering to = {.graph = graph,
                        .model = model,
                        .config = config,
                        .batch = config->micro_batch,
                        .sequence = pace_model_sequence(model, config) / config->cp,
                        .last_node = {PACE_NO_NODE, PACE_NO_NODE},
                        .region = PACE_NO_NODE,
                        .after = PACE_NO_NODE,
                        .last_launch = PACE_NO_LAUNCH,
                        .await_exchange = PACE_NO_LAUNCH,
                        .last_exchange = PACE_NO_LAUNCH,
                        .await_pull = PACE_NO_LAUNCH};
    to.bytes = pace_alloc(count, sizeof *to.bytes);
    to.gradients = pace_alloc(count, sizeof *to.gradients);
    to.uses = pace_alloc(count, sizeof *to.uses);
    to.needs_gradient = pace_alloc(count, sizeof *to.needs_gradient);
    to.pulls = pace_alloc(count, sizeof *to.pulls);
    for (size_t i = 0; to.pulls && i < count; i++) to.pulls[i] = PACE_NO_LAUNCH;
    if (to.bytes && to.gradients && to.uses && to.needs_gradient && to.pulls) plan_layers(&to);
    else to.status = PACE_E_MEMORY;
    *out = to;
    return to.status;
}

void pace_lowering_end(pace_lowering *to) {
    PACE_VEC_FREE(&to->tensors);
    pace_free(to->bytes);
    pace_free(to->gradients);
    pace_free(to->uses);
    pace_free(to->needs_gradient);
    pace_free(to->pulls);
}

static pace_status lower_into(pace_graph *graph, const pace_model *model, const pace_config *config) {
    pace_lowering to;
    pace_status status = pace_lowering_begin(&to, graph, model, config);
    if (status == PACE_OK) {
        lower_step(&to);
        status = to.status;
    }
    pace_lowering_end(&to);
    return status;
}

pace_status pace_model_lower(pace_graph *out, const pace_model *model, const pace_config *config) {
    pace_graph graph;
    PACE_TRY(check_config(model, config));
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = lower_into(&graph, model, config);
    if (status == PACE_OK) status = pace_graph_check(&graph);
    graph.world_size = (int64_t)pace_config_ranks(config);
    graph.rank = 0;
    if (status != PACE_OK) pace_graph_free(&graph);
    else *out = graph;
    return status;
}

static pace_status lower_whole_backward(pace_graph *graph, pace_gradient_tensors *tensors, const pace_model *model,
                                        const pace_config *config) {
    pace_lowering to;
    pace_status status = pace_lowering_begin(&to, graph, model, config);
    to.exchanges_gradients = true;
    for (uint32_t i = (uint32_t)model->layers.count; i-- > 0 && to.status == PACE_OK;) pace_lower_backward(&to, i);
    if (status == PACE_OK) status = to.status;
    if (status == PACE_OK) {
        *tensors = to.tensors;
        to.tensors = (pace_gradient_tensors){0};
    }
    pace_lowering_end(&to);
    return status;
}

pace_status pace_model_lower_gradients(pace_graph *out, pace_gradient_tensors *tensors, const pace_model *model,
                                       const pace_config *config) {
    pace_graph graph;
    pace_config alone = *config;
    alone.dp = 1;
    alone.bucket_bytes = INFINITY;
    alone.execution = PACE_EAGER;
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = lower_whole_backward(&graph, tensors, model, &alone);
    if (status != PACE_OK) pace_graph_free(&graph);
    else *out = graph;
    return status;
}

static void lower_gradients(pace_lowering *to, pace_model_rest rest, const pace_gradient_tensors *tensors) {
    to->stage = PACE_STAGE_BACKWARD;
    to->accumulates = rest == PACE_REST_ACCUMULATE;
    to->exchanges_gradients = rest == PACE_REST_EXCHANGE;
    enter_region(to, "CompiledFunctionBackward");
    for (size_t i = 0; i < tensors->count && to->status == PACE_OK; i++) pace_lower_gradient(to, tensors->items[i]);
    if (to->exchanges_gradients) pace_lower_last_bucket(to);
    leave_region(to);
}

static pace_status lower_rest(pace_lowering *to, pace_model_rest rest) {
    pace_gradient_tensors tensors;
    pace_graph backward;
    if (rest == PACE_REST_INPUT) lower_input(to);
    if (rest == PACE_REST_INPUT) return to->status;
    if (rest == PACE_REST_UPDATE) {
        if (to->config->optimizer == PACE_NO_UPDATE) return PACE_OK;
        lower_zero_grad(to);
        lower_update(to);
        return to->status;
    }
    PACE_TRY(pace_model_lower_gradients(&backward, &tensors, to->model, to->config));
    pace_graph_free(&backward);
    lower_gradients(to, rest, &tensors);
    PACE_VEC_FREE(&tensors);
    return to->status;
}

pace_status pace_model_lower_rest(pace_graph *out, const pace_model *model, const pace_config *config,
                                  pace_model_rest rest) {
    pace_graph graph;
    pace_lowering to;
    pace_config whole = *config;
    if (rest == PACE_REST_EXCHANGE && whole.dp < 2) whole.dp = 2;
    if (whole.update == PACE_UPDATE_LOOP) whole.update = PACE_UPDATE_FOREACH; /* tensors come with backward */
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = pace_lowering_begin(&to, &graph, model, &whole);
    if (status == PACE_OK) status = lower_rest(&to, rest);
    pace_lowering_end(&to);
    if (status != PACE_OK) pace_graph_free(&graph);
    else *out = graph;
    return status;
}
