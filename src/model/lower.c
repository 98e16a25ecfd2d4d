#include "model/lower.h"

#include "model/emit.h"
#include "model/lower_activations.h"
#include "model/lower_ops.h"
#include "model/lower_region.h"
#include "model/lower_shards.h"
#include "model/recompute.h"

#include <math.h>
#include <string.h>

static pace_status check_config(const pace_model *model, const pace_config *config, uint32_t stage) {
    PACE_TRY(pace_config_check(config));
    PACE_TRY(pace_model_check_parallel(model, config));
    pace_pipeline pipeline = pace_config_pipeline(config);
    PACE_TRY(pace_pipeline_check(&pipeline));
    if (stage >= pipeline.stages)
        return pace_fail(PACE_E_USAGE, "stage %u: expected one below %u", stage, pipeline.stages);
    if (model->sequence > 0 || config->sequence == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "the model \"%s\" has no sequence whose length could be set",
                     pace_names_text(&model->names, model->name));
}

static void plan_layers(pace_lowering *to) {
    const pace_model *model = to->model;
    for (uint32_t i = 0; i < model->layers.count; i++)
        for (uint32_t k = 0; k < model->layers.items[i].input_count; k++)
            to->uses[model->inputs.items[model->layers.items[i].first_input + k]]++;
    pace_model_needs_gradients(to->needs_gradient, model, to->config);
    pace_model_element_bytes(to->bytes, model, to->config);
}

/* Elements of the targets: one class or token for each place of the output. */
static double target_bytes(const pace_lowering *to) {
    double sum = 0;
    PACE_ITEMS (const pace_layer, layer, &to->model->layers) {
        if (layer->kind == PACE_LAYER_LOSS && sum == 0)
            sum = layer->word[0] == 'c' ? 8 * pace_emit_places(to, &layer->shape)
                                        : 4 * pace_emit_elements(to, &layer->shape);
    }
    return sum;
}

static bool is_pinned(const pace_lowering *to) {
    return to->config->input == PACE_INPUT_USUAL ? to->model->pinned : to->config->input == PACE_INPUT_PINNED;
}

/* Images and features come in single precision. */
static int index_bytes(const pace_lowering *to) {
    bool narrow = to->config->indices == PACE_INDICES_USUAL ? to->model->short_indices
                                                            : to->config->indices == PACE_INDICES_INT32;
    return narrow ? 4 : 8;
}

static void copy_in(pace_lowering *to, double bytes) {
    bool pinned = is_pinned(to);
    pace_emit_open(to, "aten::to");
    pace_emit_open(to, "aten::_to_copy");
    pace_emit_op(to, "aten::copy_", pace_emit_transfer(pinned ? "h2d_pinned" : "h2d_pageable", bytes));
    pace_emit_await(to);
    pace_emit_close(to);
    pace_emit_close(to);
}

static bool is_first_part(const pace_lowering *to) { return to->part.first == 0; }
static bool is_last_part(const pace_lowering *to) { return to->part.last + 1 == to->model->layers.count; }

/* Whether operators within others are left out where so many are lowered, or fewer. The two sides of a V are lowered
 * whole: a backward pass of one begins behind any operator of the other. */
static bool leaves_out(const pace_config *config, pace_operators from) {
    return config->operators >= (int)from && !pace_schedule_is_v(config->schedule);
}

/* Samples come to the first stage of a pipeline, targets to the last. */
static void lower_input(pace_lowering *to) {
    to->stage = PACE_STAGE_INPUT;
    to->module = 0;
    if (to->config->input == PACE_INPUT_SYNTHETIC) return;
    for (uint32_t i = to->part.first; i <= to->part.last && i < to->model->layers.count; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        int bytes = to->bytes[i] == 8 ? index_bytes(to) : 4;
        if (layer->kind == PACE_LAYER_INPUT) copy_in(to, bytes * pace_emit_elements(to, &layer->shape));
    }
    if (to->config->mode == PACE_TRAINING && is_last_part(to)) copy_in(to, target_bytes(to));
}

static pace_name module_of(pace_lowering *to, uint32_t layer) {
    return pace_emit_name(to, pace_names_text(&to->model->names, to->model->layers.items[layer].name));
}

/* One operator asks the servers for all parameters at once, when the token says that they are of this step. */
static void lower_pulls(pace_lowering *to) {
    to->stage = PACE_STAGE_FORWARD;
    pace_emit_op(to, "aten::fill_", pace_emit_copy(to, "fill", 1, 4));
    pace_emit_open(to, "c10d::pull_");
    for (uint32_t i = 0; i < to->model->layers.count && to->status == PACE_OK; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        double elements = layer->rule->sparse || layer->frozen ? 0 : pace_lower_parameters(to, layer);
        if (elements > 0) to->pulls[i] = pace_emit_pull(to, elements * pace_config_parameter_bytes(to->config));
    }
    pace_emit_close(to);
}

static void lower_forward(pace_lowering *to) {
    bool training = to->config->mode == PACE_TRAINING;
    to->stage = PACE_STAGE_FORWARD;
    pace_region_enter_pass(to, "Torch-Compiled Region: 0/0");
    for (uint32_t i = to->part.first; i <= to->part.last && to->status == PACE_OK; i++) {
        if (to->model->layers.items[i].training_only && !training) continue;
        to->module = module_of(to, i);
        pace_region_leave_block(to, i);
        pace_lower_gather(to, i);
        if (to->pulls[i] != PACE_NO_LAUNCH) to->await_pull = to->pulls[i]; /* those before have come by then */
        pace_region_enter_block(to, i);
        pace_lower_forward(to, i);
        pace_lower_copy_out(to, i);
    }
    pace_region_end_blocks(to);
    to->module = 0;
    pace_region_leave_pass(to);
}

/* Before its backward pass what of a segment runs again (torch.utils.checkpoint), on autograd's thread. */
static void recompute_segment(pace_lowering *to, uint32_t last) {
    const pace_layer *layers = to->model->layers.items;
    uint32_t segment = layers[last].segment, first = last;
    unsigned products = 0;
    while (first > 0 && layers[first - 1].segment == segment) first--;
    if (to->region == PACE_NO_NODE) pace_emit_annotation(to, "CheckpointFunctionBackward");
    for (uint32_t i = first; i <= last && to->status == PACE_OK; i++) {
        to->module = module_of(to, i);
        pace_lower_again(to, i, &products);
    }
    if (to->region == PACE_NO_NODE) pace_emit_close(to);
}

/* Attention alone runs again before its own backward pass. */
static void recompute_before(pace_lowering *to, uint32_t number) {
    const pace_config *config = to->config;
    const pace_layer *layer = &to->model->layers.items[number];
    unsigned products = 0;
    bool last = number + 1 == to->model->layers.count || layer[1].segment != layer->segment;
    bool blocks = config->recompute == PACE_RECOMPUTE_FULL || config->selects_products || pace_config_modules(config);
    if (config->recompute == PACE_RECOMPUTE_NONE) return;
    if (!blocks) pace_lower_again(to, number, &products);
    else if (layer->segment > 0 && last) recompute_segment(to, number);
}

static void backward_layers(pace_lowering *to) {
    memset(to->gradients, 0, to->model->layers.count * sizeof *to->gradients);
    pace_region_enter_pass(to, "CompiledFunctionBackward");
    for (uint32_t i = to->part.last + 1; i-- > to->part.first && to->status == PACE_OK;) {
        pace_region_leave_block(to, i);
        pace_lower_gather(to, i);
        pace_lower_copy_in(to, i);
        pace_region_enter_block(to, i);
        if (to->turn.pass != PACE_TURN_WEIGHTS) recompute_before(to, i);
        to->module = module_of(to, i);
        pace_lower_backward(to, i);
        pace_lower_scatter(to, i);
    }
    pace_region_end_blocks(to);
    to->module = 0;
    pace_region_leave_pass(to); /* buckets are DistributedDataParallel's, which nothing compiles or captures */
    if (to->is_last_turn && to->cut.stages == 1) pace_lower_last_bucket(to);
}

void pace_lower_loss_gradient(pace_lowering *to) {
    bool outermost = to->outermost;
    to->outermost = false;
    pace_emit_op(to, "aten::ones_like > aten::fill_", pace_emit_copy(to, "fill", 1, 4));
    to->outermost = outermost;
}

/* Thread 0 gives autograd's thread the loss and waits until it is done. In a CUDA graph there are no threads. */
static void lower_backward(pace_lowering *to) {
    bool threads = to->region == PACE_NO_NODE;
    uint32_t caller = PACE_NO_NODE;
    to->stage = PACE_STAGE_BACKWARD;
    if (threads) {
        if (is_last_part(to) && to->turn.pass != PACE_TURN_WEIGHTS) pace_lower_loss_gradient(to);
        if (to->left_out[0] && to->status == PACE_OK)
            to->status =
                pace_fail(PACE_E_INTERNAL, "lowering left out the operator that a backward pass begins behind");
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

static void lower_read_loss(pace_lowering *to) {
    to->stage = PACE_STAGE_OTHER;
    if (pace_model_reads_loss(to->model, to->config) == PACE_LOSS_READ_LAST) pace_lower_read_loss(to);
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

/* --- turns of a pipeline ------------------------------------------------------------------------------------------ */

/* Whose chunk comes before or after the one at hand; -1 = none, or the stage's own (where a V turns round). */
static int64_t neighbour(const pace_lowering *to, bool after) {
    pace_pipeline pipeline = pace_config_pipeline(to->config);
    uint32_t part = pace_pipeline_part(&pipeline, to->own_stage, to->turn.chunk);
    if (after ? is_last_part(to) : is_first_part(to)) return -1;
    uint32_t stage = pace_pipeline_stage(&pipeline, after ? part + 1 : part - 1);
    return stage == to->own_stage ? -1 : (int64_t)stage * pace_config_stride(to->config, PACE_GROUP_PIPELINE);
}

/* What passes between two parts: the output of the layer before the border. */
static void pass(pace_lowering *to, bool gradients, bool sends) {
    bool after = gradients != sends; /* the border behind the part at hand */
    int64_t peer = neighbour(to, after);
    if (peer < 0) return;
    uint32_t layer = after ? to->part.last : to->part.first - 1;
    double elements = pace_emit_elements(to, &to->model->layers.items[layer].shape);
    pace_emit_message(to, &(pace_stage_message){gradients, sends, peer, elements * to->bytes[layer]});
}

static void take_turn(pace_lowering *to, const pace_turn *turn) {
    uint32_t micro_batches = (uint32_t)pace_config_micro_batches(to->config);
    to->turn = *turn;
    to->part = *pace_lower_part_of(to, turn->chunk);
    to->is_last_micro_batch = turn->micro_batch + 1 == micro_batches;
    to->exchanges_gradients = to->is_last_micro_batch || to->config->zero_stage >= 3;
    to->accumulates = turn->micro_batch > 0 && to->config->zero_stage < 3; /* what ZeRO 3 keeps of them is small */
}

static void forward_turn(pace_lowering *to) {
    enter_stage(to, PACE_STAGE_FORWARD, "## forward ##");
    to->stage = PACE_STAGE_FORWARD;
    pass(to, false, false);
    lower_forward(to);
    pass(to, false, true);
    leave_stage(to);
}

static void backward_turn(pace_lowering *to) {
    enter_stage(to, PACE_STAGE_BACKWARD, "## backward ##");
    to->stage = PACE_STAGE_BACKWARD;
    if (to->turn.pass != PACE_TURN_WEIGHTS) pass(to, true, false);
    lower_backward(to);
    if (to->turn.pass != PACE_TURN_WEIGHTS) pass(to, true, true);
    if (to->is_last_turn && to->cut.stages > 1) pace_lower_last_bucket(to); /* the stage before need not wait for it */
    leave_stage(to);
}

static void lower_turns(pace_lowering *to, const pace_turns *turns) {
    bool graph = to->config->execution == PACE_CUDA_GRAPH;
    for (size_t i = 0; i < turns->count && to->status == PACE_OK; i++) {
        bool forward = turns->items[i].pass == PACE_TURN_FORWARD;
        take_turn(to, &turns->items[i]);
        to->is_last_turn = i + 1 == turns->count;
        if (forward && i > 0 && !graph) lower_input(to);
        bool at_end = turns->items[i].micro_batch == 0 || to->is_last_micro_batch;
        to->outermost = leaves_out(to->config, at_end ? PACE_OPERATORS_OUTERMOST : PACE_OPERATORS_OF_ENDS);
        if (forward) forward_turn(to);
        else backward_turn(to);
        to->outermost = leaves_out(to->config, PACE_OPERATORS_OUTERMOST);
        if (i == 0 && pace_config_trains(to->config) && to->config->optimizer != PACE_NO_UPDATE &&
            pace_lower_reads_first(to))
            pace_lower_zero_grad(to);
        if (to->status == PACE_OK) to->status = PACE_PUSH(&to->graph->turn_ends, to->computes);
    }
}

/* The first and the last stage add their gradients of a table that both hold. */
static void lower_tied(pace_lowering *to) {
    bool ends = to->own_stage == 0 || to->own_stage + 1 == to->cut.stages;
    double elements = 0;
    PACE_ITEMS (const pace_layer, layer, &to->model->layers)
        if (pace_lower_is_tied(layer)) elements += pace_lower_tied_elements(to, layer);
    if (!pace_lower_has_tied_copy(to) || !ends || !(elements > 0) || !pace_config_trains_all(to->config)) return;
    pace_emit_tied_gradients(to, elements * pace_config_parameter_bytes(to->config));
}

static void lower_step(pace_lowering *to, const pace_turns *turns) {
    bool training = to->config->mode == PACE_TRAINING, graph = to->config->execution == PACE_CUDA_GRAPH;
    bool updates = pace_config_trains(to->config) && to->config->optimizer != PACE_NO_UPDATE;
    bool pulls = to->config->gradients == PACE_GRADIENTS_PULLED && pace_config_shares_gradients(to->config);
    if (pulls && training) lower_pulls(to);
    take_turn(to, &turns->items[0]);
    lower_input(to);
    if (graph) { /* captured: it has all its batches, begins with zeroed gradients and holds the update */
        for (double i = 1; i < pace_config_micro_batches(to->config); i++) lower_input(to);
        to->stage = PACE_STAGE_FORWARD;
        pace_emit_open(to, "CUDAGraph.replay");
        to->call = pace_emit_name(to, "cudaGraphLaunch");
    } else if (updates && !pace_lower_reads_first(to)) {
        pace_lower_zero_grad(to);
    }
    lower_turns(to, turns);
    if (updates) {
        enter_stage(to, PACE_STAGE_UPDATE, "## optimizer ##");
        to->stage = PACE_STAGE_UPDATE;
        lower_tied(to);
        pace_lower_update(to);
        leave_stage(to);
    }
    if (graph) {
        to->region = PACE_NO_NODE;
        to->call = 0;
        pace_emit_close(to);
    }
    if (is_last_part(to)) lower_read_loss(to);
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
                        .outermost = leaves_out(config, PACE_OPERATORS_OUTERMOST),
                        .after = PACE_NO_NODE,
                        .last_launch = PACE_NO_LAUNCH,
                        .await_exchange = PACE_NO_LAUNCH,
                        .last_exchange = PACE_NO_LAUNCH,
                        .await_pull = PACE_NO_LAUNCH,
                        .await_copy = PACE_NO_LAUNCH};
    to.bytes = pace_alloc(count, sizeof *to.bytes);
    to.gradients = pace_alloc(count, sizeof *to.gradients);
    to.uses = pace_alloc(count, sizeof *to.uses);
    to.needs_gradient = pace_alloc(count, sizeof *to.needs_gradient);
    to.pulls = pace_alloc(count, sizeof *to.pulls);
    to.copies = pace_alloc(count, sizeof *to.copies);
    for (size_t i = 0; to.pulls && i < count; i++) to.pulls[i] = PACE_NO_LAUNCH;
    to.status = pace_stages_cut(&to.cut, model, config);
    if (!to.bytes || !to.gradients || !to.uses || !to.needs_gradient || !to.pulls || !to.copies)
        to.status = PACE_E_MEMORY;
    if (to.status == PACE_OK) {
        plan_layers(&to);
        to.part = to.cut.parts[0];
    }
    *out = to;
    return to.status;
}

void pace_lowering_end(pace_lowering *to) {
    PACE_VEC_FREE(&to->tensors, &to->held);
    pace_stages_free(&to->cut);
    PACE_FREE(to->bytes, to->gradients, to->uses, to->needs_gradient, to->pulls, to->copies);
}

static pace_status lower_into(pace_graph *graph, const pace_model *model, const pace_config *config, uint32_t stage) {
    pace_lowering to;
    pace_turns turns = {0};
    pace_pipeline pipeline = pace_config_pipeline(config);
    pace_status status = pace_lowering_begin(&to, graph, model, config);
    to.own_stage = stage;
    if (status == PACE_OK) status = pace_pipeline_order(&turns, &pipeline, stage);
    if (status == PACE_OK) {
        lower_step(&to, &turns);
        status = to.status;
    }
    PACE_VEC_FREE(&turns);
    pace_lowering_end(&to);
    return status;
}

pace_status pace_model_lower(pace_graph *out, const pace_model *model, const pace_config *config, uint32_t stage) {
    pace_graph graph;
    PACE_TRY(check_config(model, config, stage));
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = lower_into(&graph, model, config, stage);
    if (status == PACE_OK) status = pace_graph_check(&graph);
    graph.world_size = (int64_t)pace_config_ranks(config);
    graph.micro_batches = pace_config_micro_batches(config);
    graph.rank = stage * pace_config_stride(config, PACE_GROUP_PIPELINE);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}

static pace_status lower_whole_backward(pace_graph *graph, pace_gradient_tensors *tensors, const pace_model *model,
                                        const pace_config *config) {
    pace_lowering to;
    pace_status status = pace_lowering_begin(&to, graph, model, config);
    to.exchanges_gradients = to.is_last_micro_batch = true;
    to.stage = PACE_STAGE_BACKWARD;
    pace_region_enter_pass(&to, "");
    for (uint32_t i = (uint32_t)model->layers.count; i-- > 0 && to.status == PACE_OK;) {
        pace_region_leave_block(&to, i);
        pace_region_enter_block(&to, i);
        pace_lower_backward(&to, i);
    }
    pace_region_end_blocks(&to);
    pace_region_leave_pass(&to);
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
    pace_config alone = pace_config_unshared(config);
    alone.dp = 1;
    alone.bucket_bytes = INFINITY;
    alone.execution = PACE_EAGER;
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = lower_whole_backward(&graph, tensors, model, &alone);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}

/* Where one operator issues a pass, within it, behind a kernel as in PACE_REST_PLAIN: the pass is counted with its
 * layers. */
static void enter_pass(pace_lowering *to, const char *name) {
    pace_region_enter_pass(to, name);
    if (pace_config_issues_passes(to->config)) pace_emit_launch(to, pace_emit_copy(to, "fill", 1, 4));
}

static void lower_gradients(pace_lowering *to, pace_model_rest rest, const pace_gradient_tensors *tensors) {
    to->stage = PACE_STAGE_BACKWARD;
    to->exchanges_gradients = to->is_last_micro_batch = rest == PACE_REST_EXCHANGE;
    bool compiled = to->config->graphs != PACE_GRAPHS_PASSES; /* behind a graph nothing compiles them */
    if (compiled) enter_pass(to, "CompiledFunctionBackward");
    for (size_t i = 0; i < tensors->count && to->status == PACE_OK; i++) pace_lower_gradient(to, tensors->items[i]);
    if (compiled) pace_region_leave_pass(to);
    if (to->exchanges_gradients) pace_lower_last_bucket(to);
}

static pace_status copy_tensors(pace_gradient_tensors *out, const pace_gradient_tensors *tensors) {
    for (size_t i = 0; i < tensors->count; i++) PACE_TRY(PACE_PUSH(out, tensors->items[i]));
    return PACE_OK;
}

static void lower_graph(pace_lowering *to) {
    to->stage = PACE_STAGE_FORWARD;
    pace_region_open(to, "");
    pace_emit_launch(to, pace_emit_copy(to, "fill", 1, 4));
    pace_region_close(to);
}

static void lower_shard(pace_lowering *to) {
    pace_emit_gather(to, PACE_GROUP_DATA, 1);
    pace_lower_unpack(to, 0, 1);
}

static void lower_gather(pace_lowering *to) {
    enter_pass(to, "");
    pace_emit_gather(to, PACE_GROUP_DATA, 1);
    pace_region_leave_pass(to);
}

static void lower_move(pace_lowering *to) {
    enter_pass(to, "");
    (void)pace_emit_copy_beside(to, "offload::activations", "d2h_pinned", 1);
    pace_region_leave_pass(to);
}

static pace_status lower_rest(pace_lowering *to, pace_model_rest rest, const pace_gradient_tensors *tensors) {
    if (rest == PACE_REST_INPUT) lower_input(to);
    if (rest == PACE_REST_GATHER) lower_gather(to);
    if (rest == PACE_REST_SHARD) lower_shard(to);
    if (rest == PACE_REST_WITHIN || rest == PACE_REST_TWICE) {
        pace_region_enter_pass(to, "");
        for (int i = PACE_REST_WITHIN; i <= (int)rest; i++) lower_shard(to);
        pace_region_leave_pass(to);
    }
    if (rest == PACE_REST_GRAPH) lower_graph(to);
    if (rest == PACE_REST_MOVE) lower_move(to);
    if (rest == PACE_REST_MESSAGE) pace_emit_message(to, &(pace_stage_message){.sends = true, .bytes = 1});
    if (rest == PACE_REST_VIEW) pace_emit_host(to, "aten::view");
    if (rest == PACE_REST_UPDATE) {
        if (to->config->optimizer == PACE_NO_UPDATE) return PACE_OK;
        if (to->config->update == PACE_UPDATE_LOOP) PACE_TRY(copy_tensors(&to->tensors, tensors));
        pace_lower_zero_grad(to);
        pace_lower_update(to);
    }
    if (rest <= PACE_REST_EXCHANGE) lower_gradients(to, rest, tensors);
    return to->status;
}

pace_status pace_model_lower_rest(pace_graph *out, const pace_model *model, const pace_config *config,
                                  pace_model_rest rest, const pace_gradient_tensors *tensors) {
    pace_graph graph;
    pace_lowering to;
    pace_config whole = pace_config_unshared(config);
    if (rest == PACE_REST_EXCHANGE && whole.dp < 2) whole.dp = 2;
    if (rest == PACE_REST_EXCHANGE) whole.zero_stage = config->zero_stage < 2 ? config->zero_stage : 2;
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = pace_lowering_begin(&to, &graph, model, &whole);
    bool adds = rest == PACE_REST_EXCHANGE && pace_config_micro_batches(config) > 1 && config->zero_stage < 3;
    to.accumulates = rest == PACE_REST_ACCUMULATE || adds;
    if (status == PACE_OK) status = lower_rest(&to, rest, tensors);
    pace_lowering_end(&to);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}
