/*
 * The operators of each kind of layer in the forward pass, as eager PyTorch 2 issues them on a GPU.
 */
#include "model/lower_ops.h"
#include "model/lower_region.h"
#include "model/recompute.h"

#include <string.h>

typedef pace_layer_view layer_view;

bool pace_lower_reads_first(const pace_lowering *to) {
    return pace_model_reads_loss(to->model, to->config) == PACE_LOSS_READ_FIRST;
}

void pace_lower_read_loss(pace_lowering *to) {
    pace_emit_open(to, "aten::item");
    pace_emit_op(to, "aten::_local_scalar_dense", pace_emit_transfer("d2h_pageable", 4));
    pace_emit_await(to);
    pace_emit_close(to);
}

/* Networks for images add in place, those for sequences do not. */
void pace_forward_join(pace_lowering *to, const layer_view *view) {
    bool add = view->layer->kind == PACE_LAYER_ADD,
         in_place = add && !view->layer->shape.sequence && !view->layer->shape.tokens;
    for (uint32_t i = 1; i < view->layer->input_count; i++)
        pace_emit_op(to,
                     in_place ? "aten::add_"
                     : add    ? "aten::add"
                              : "aten::mul",
                     pace_emit_elementwise(to, add ? "add" : "mul", view->elements,
                                           1 + pace_lower_share_of_input(to, view, i), 1, view->bytes));
}

/* autocast: what comes in another precision is copied first, and so are the parameters, once a forward pass. */
void pace_forward_cast(pace_lowering *to, double elements, int from_bytes, int to_bytes) {
    if (from_bytes == to_bytes || from_bytes == 8) return;
    pace_emit_op(to, "aten::to > aten::_to_copy > aten::copy_", pace_emit_cast(to, elements, from_bytes, to_bytes));
}

static void cast_inputs(pace_lowering *to, const layer_view *view) {
    const pace_layer *layer = view->layer;
    if (!pace_config_is_amp(to->config) || !pace_lower_is_cast(layer)) return;
    for (uint32_t i = 0; i < layer->input_count; i++) {
        uint32_t from = to->model->inputs.items[layer->first_input + i];
        pace_forward_cast(to, pace_emit_elements(to, &to->model->layers.items[from].shape), to->bytes[from],
                          view->bytes);
    }
    to->samples = PACE_SAMPLES_NONE;
    if (view->bytes == 2 && layer->parameters > 0) pace_forward_cast(to, pace_lower_parameters(to, layer), 4, 2);
    to->samples = PACE_SAMPLES_UNKNOWN;
}

void pace_forward_convolution(pace_lowering *to, const layer_view *view) {
    pace_emit_open(to, "aten::conv2d");
    pace_emit_open(to, "aten::convolution");
    pace_emit_open(to, "aten::_convolution");
    pace_emit_op(to, "aten::cudnn_convolution",
                 pace_lower_convolution(to, view->layer, PACE_PASS_FORWARD, view->bytes));
    if (view->layer->option[PACE_OPTION_BIAS] > 0)
        pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", view->elements, 1, 1, view->bytes));
    pace_emit_close(to);
    pace_emit_close(to);
    pace_emit_close(to);
}

/* The output on all ranks of a tensor-parallel group together. */
static double whole_bytes(const pace_lowering *to, const layer_view *view) {
    return pace_emit_places(to, &view->layer->shape) * view->layer->shape.channels * view->bytes;
}

void pace_forward_linear(pace_lowering *to, const layer_view *view) {
    const pace_layer *layer = view->layer;
    bool bias = layer->option[PACE_OPTION_BIAS] > 0;
    double rows = pace_emit_places(to, &view->input->shape);
    pace_lower_widen(to, layer, pace_emit_channels(to, &layer->shape) * pace_emit_channels(to, &view->input->shape));
    pace_emit_open(to, "aten::linear");
    pace_emit_open(to, "aten::t");
    pace_emit_host(to, "aten::transpose");
    pace_emit_close(to);
    if (!bias) pace_emit_open(to, "aten::matmul");
    pace_op op = pace_emit_linear(to, PACE_PASS_FORWARD, rows, pace_emit_channels(to, &layer->shape),
                                  pace_emit_channels(to, &view->input->shape), view->bytes);
    pace_emit_op(to, bias ? "aten::addmm" : "aten::mm", pace_emit_in_segment(to, layer, op));
    if (!bias) pace_emit_close(to);
    pace_emit_close(to);
    if (layer->shard == PACE_SHARD_ROW && to->config->tp > 1)
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, whole_bytes(to, view));
}

void pace_forward_batch_norm(pace_lowering *to, const layer_view *view) {
    pace_op op = pace_lower_batch_norm(to, view, PACE_PASS_FORWARD);
    bool training = to->config->mode == PACE_TRAINING;
    if (training) /* counts the batches it has seen, on the device */
        pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", 1, 1, 1, 8));
    pace_emit_open(to, "aten::batch_norm");
    pace_emit_open(to, "aten::_batch_norm_impl_index");
    pace_emit_op(to, training ? "aten::cudnn_batch_norm" : "aten::native_batch_norm", op);
    pace_emit_close(to);
    pace_emit_close(to);
}

void pace_forward_layer_norm(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::layer_norm > aten::native_layer_norm",
                 pace_lower_layer_norm(to, view->layer, PACE_PASS_FORWARD, view->bytes));
}

/* Written out in elementary operators, as Hugging Face's modules are: x * rsqrt(mean(x^2) + eps) * w, all but the
 * product with the weight in single precision. */
void pace_forward_rms_norm(pace_lowering *to, const layer_view *view) {
    double columns = view->layer->option[PACE_OPTION_WIDTH], rows = view->elements / columns;
    int wide = pace_lower_norm_bytes(to, view->bytes);
    if (to->config->fuses_norms) {
        pace_emit_op(to, "aten::_fused_rms_norm",
                     pace_lower_layer_norm(to, view->layer, PACE_PASS_FORWARD, view->bytes));
        return;
    }
    pace_forward_cast(to, view->elements, view->bytes, wide);
    pace_emit_op(to, "aten::pow", pace_emit_elementwise(to, "pow", view->elements, 1, 1, wide));
    pace_emit_op(to, "aten::mean",
                 pace_emit_rows(to, PACE_OP_REDUCTION, "mean", PACE_PASS_FORWARD, rows, columns, wide));
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", rows, 1, 1, wide));
    pace_emit_op(to, "aten::rsqrt", pace_emit_elementwise(to, "rsqrt", rows, 1, 1, wide));
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 1, 1, wide));
    pace_forward_cast(to, view->elements, wide, view->bytes);
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 1, 1, view->bytes));
}

/* x / (k + alpha * mean of neighbours' squares) ^ beta, in elementary operators (torch.nn.functional). */
void pace_forward_local_norm(pace_lowering *to, const layer_view *view) {
    double n = view->elements;
    int bytes = view->bytes;
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 2, 1, bytes));
    pace_emit_op(to, "aten::constant_pad_nd", pace_emit_copy(to, "pad", n, bytes));
    pace_emit_op(to, "aten::avg_pool3d", pace_lower_other(to, "avg_pool3d", n, bytes));
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 1, 1, bytes));
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", n, 1, 1, bytes));
    pace_emit_op(to, "aten::pow", pace_emit_elementwise(to, "pow", n, 1, 1, bytes));
    pace_emit_op(to, "aten::div", pace_emit_elementwise(to, "div", n, 2, 1, bytes));
}

void pace_forward_activation(pace_lowering *to, const layer_view *view) {
    const pace_activation *activation = pace_lower_activation(view->layer->word);
    if (activation->second)
        pace_emit_op(to, activation->second, pace_emit_elementwise(to, "relu", view->elements, 1, 1, view->bytes));
    pace_emit_op(to, activation->forward,
                 pace_emit_elementwise(to, activation->kind, view->elements, 1, 1, view->bytes));
}

void pace_forward_dropout(pace_lowering *to, const layer_view *view) {
    bool drops = view->layer->option[PACE_OPTION_P] > 0; /* of a share of 0 it gives what it takes */
    if (!drops || to->config->mode != PACE_TRAINING) return;
    pace_emit_op(to, "aten::dropout > aten::native_dropout", pace_lower_dropout(to, view->elements, view->bytes));
}

void pace_forward_scale(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 1, 1, view->bytes));
}

void pace_forward_pool(pace_lowering *to, const layer_view *view) {
    bool max = view->layer->kind == PACE_LAYER_MAX_POOL;
    if (max) pace_emit_open(to, "aten::max_pool2d");
    pace_emit_op(to, max ? "aten::max_pool2d_with_indices" : "aten::avg_pool2d",
                 pace_lower_pooling(to, view->layer, PACE_PASS_FORWARD, view->bytes));
    if (max) pace_emit_close(to);
}

void pace_forward_adaptive_pool(pace_lowering *to, const layer_view *view) {
    pace_emit_open(to, "aten::adaptive_avg_pool2d");
    if (view->layer->shape.height == 1)
        pace_emit_op(to, "aten::mean",
                     pace_emit_rows(to, PACE_OP_REDUCTION, "mean", PACE_PASS_FORWARD, view->elements,
                                    view->in_elements / view->elements, view->bytes));
    else
        pace_emit_op(to, "aten::_adaptive_avg_pool2d",
                     pace_lower_pooling(to, view->layer, PACE_PASS_FORWARD, view->bytes));
    pace_emit_close(to);
}

void pace_forward_embedding(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::embedding > aten::index_select",
                 pace_lower_embedding(to, view->layer, PACE_PASS_FORWARD, view->bytes));
    if (view->layer->kind == PACE_LAYER_EMBEDDING && to->config->tp > 1) /* each rank has some of the rows */
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, whole_bytes(to, view));
}

/* The positions' rows are looked up once and added to every sample's. */
void pace_forward_positions(pace_lowering *to, const layer_view *view) {
    pace_forward_embedding(to, view);
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", view->elements, 2, 1, view->bytes));
}

void pace_forward_embedding_bag(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "LookupFunction", pace_lower_embedding(to, view->layer, PACE_PASS_FORWARD, view->bytes));
    if (to->config->ep >
        1) /* each rank has some of the tables, and looks up every rank's samples (Naumov et al. 2019) */
        pace_emit_exchange(to, "alltoall", PACE_GROUP_EXPERT, view->elements * view->bytes);
}

/* Rows and columns of the pairs, from lists of the host. */
static void copy_pairs(pace_lowering *to, double vectors) {
    const pace_config *config = to->config;
    bool captured = config->execution != PACE_EAGER || pace_config_issues_passes(config);
    int where = config->pair_indices == PACE_PAIRS_USUAL ? to->model->pair_indices : config->pair_indices;
    for (int i = 0; !captured && where == PACE_PAIRS_HOST && i < 2; i++) {
        pace_emit_open(to, "aten::to");
        pace_emit_op(to, "aten::copy_", pace_emit_transfer("h2d_pageable", 8 * vectors * (vectors - 1) / 2));
        pace_emit_await(to);
        pace_emit_close(to);
    }
}

void pace_forward_interaction(pace_lowering *to, const layer_view *view) {
    double width = view->input->shape.channels;
    double vectors = 1 + pace_layer_input(to->model, view->layer, 1)->shape.channels / width;
    pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", to->batch * vectors * width, view->bytes));
    pace_emit_host(to, "aten::transpose");
    pace_emit_op(to, "aten::bmm", pace_emit_gemm(to, to->batch, vectors, vectors, width, view->bytes));
    copy_pairs(to, vectors);
    pace_emit_op(to, "aten::index", pace_lower_tril(to, vectors, PACE_PASS_FORWARD, view->bytes));
    pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", view->elements, view->bytes));
}

/* tanh(queries + keys) for every pair, a product with a vector, softmax, and the mean of the memory. */
void pace_forward_additive_attention(pace_lowering *to, const layer_view *view) {
    double pairs = to->batch * to->sequence * to->sequence, width = view->input->shape.channels;
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", pairs * width, 0, 1, view->bytes));
    pace_emit_op(to, "aten::tanh", pace_emit_elementwise(to, "tanh", pairs * width, 1, 1, view->bytes));
    pace_emit_op(to, "aten::matmul > aten::mv", pace_emit_gemm(to, 1, pairs, 1, width, view->bytes));
    pace_emit_op(to, "aten::softmax > aten::_softmax",
                 pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_FORWARD, pairs / to->sequence, to->sequence,
                                view->bytes));
    pace_emit_op(to, "aten::bmm",
                 pace_emit_gemm(to, to->batch, to->sequence, view->layer->shape.channels, to->sequence, view->bytes));
}

/* cuDNN: all steps' products with the input at once, then a product and the gates of each step. */
void pace_forward_lstm(pace_lowering *to, const layer_view *view) {
    double hidden = view->layer->option[PACE_OPTION_HIDDEN], in = view->input->shape.channels;
    double directions = view->layer->option[PACE_OPTION_BIDIRECTIONAL] > 0 ? 2 : 1;
    pace_emit_open(to, "aten::lstm");
    pace_emit_open(to, "aten::_cudnn_rnn");
    for (double i = 0; i < view->layer->option[PACE_OPTION_LAYERS] * directions; i++) {
        double width = i < directions ? in : hidden * directions;
        pace_emit_launch(to, pace_emit_gemm(to, 1, to->batch * to->sequence, 4 * hidden, width, view->bytes));
        for (double step = 0; step < to->sequence && to->status == PACE_OK; step++) {
            pace_emit_launch(to, pace_emit_gemm(to, 1, to->batch, 4 * hidden, hidden, view->bytes));
            pace_emit_launch(to, pace_emit_elementwise(to, "lstm_cell", to->batch * hidden, 9, 6, view->bytes));
        }
    }
    pace_emit_close(to);
    pace_emit_close(to);
}

static void activate_experts(pace_lowering *to, const layer_view *view, double inner) {
    bool gated = view->layer->option[PACE_OPTION_GATED] > 0;
    pace_emit_op(to, gated ? "aten::silu" : "aten::gelu",
                 pace_emit_elementwise(to, gated ? "silu" : "gelu", inner, 1, 1, view->bytes));
    if (gated) pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", inner, 2, 1, view->bytes));
}

void pace_forward_experts(pace_lowering *to, const layer_view *view) {
    const double *option = view->layer->option;
    double tokens = pace_emit_places(to, &view->input->shape) * pace_lower_routed_share(to);
    double in = view->input->shape.channels;
    pace_expert_size size = pace_lower_expert_size(to, view->layer);
    bool gated = option[PACE_OPTION_GATED] > 0;
    double ffn = option[PACE_OPTION_FFN] / pace_config_expert_split(to->config), up = gated ? 2 * ffn : ffn;
    if (to->config->sorts_on_host) pace_region_dispatch(to);
    pace_emit_op(to, "aten::linear > aten::mm",
                 pace_emit_gemm(to, 1, tokens, option[PACE_OPTION_EXPERTS], in, view->bytes));
    pace_emit_op(to, "aten::softmax > aten::_softmax",
                 pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_FORWARD, tokens, option[PACE_OPTION_EXPERTS],
                                view->bytes));
    pace_emit_op(to, "aten::topk", pace_lower_other(to, "topk", tokens * option[PACE_OPTION_EXPERTS], view->bytes));
    pace_emit_op(to, "aten::sort", pace_lower_other(to, "sort", size.rows, 8));
    pace_emit_op(to, "aten::index", pace_emit_copy(to, "gather", size.rows * in, view->bytes));
    pace_lower_dispatch(to, &size, in, view->bytes);
    pace_lower_widen(to, view->layer, size.groups * (up + ffn) * in);
    pace_emit_sized_op(to, PACE_SAMPLES_ROWS, "aten::_grouped_mm",
                       pace_emit_in_segment(to, view->layer,
                                            pace_emit_gemm(to, size.groups, size.each, up, in, view->bytes)));
    activate_experts(to, view, size.rows * ffn);
    pace_emit_sized_op(to, PACE_SAMPLES_ROWS, "aten::_grouped_mm",
                       pace_emit_in_segment(to, view->layer,
                                            pace_emit_gemm(to, size.groups, size.each, in, ffn, view->bytes)));
    if (pace_config_expert_split(to->config) > 1)
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, whole_bytes(to, view));
    pace_lower_dispatch(to, &size, in, view->bytes);
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", size.rows * in, 1, 1, view->bytes));
    pace_emit_op(to, "aten::index_add_", pace_emit_copy(to, "scatter", size.rows * in, view->bytes));
}

void pace_forward_concat(pace_lowering *to, const layer_view *view) {
    if (view->layer->input_count > 1)
        pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", view->elements, view->bytes));
}

static void forward_loss(pace_lowering *to, const layer_view *view) {
    double rows = pace_emit_places(to, &view->input->shape), columns = pace_emit_channels(to, &view->input->shape);
    if (strcmp(view->layer->word, "cross_entropy") != 0) {
        bool square = strcmp(view->layer->word, "mse") == 0;
        pace_emit_op(to, square ? "aten::mse_loss" : "aten::binary_cross_entropy",
                     pace_emit_rows(to, PACE_OP_LOSS, view->layer->word, PACE_PASS_FORWARD, rows, columns,
                                    view->bytes));
        return;
    }
    if (pace_config_parts_loss(to->config)) {
        pace_forward_parts_loss(to, view, rows, columns);
        return;
    }
    pace_emit_open(to, "aten::cross_entropy_loss");
    pace_emit_op(to, "aten::log_softmax > aten::_log_softmax",
                 pace_emit_rows(to, PACE_OP_SOFTMAX, "log", PACE_PASS_FORWARD, rows, columns, view->bytes));
    if (view->input->shape.sharded && to->config->tp > 1) /* maximum, sum, and the target's score of each token */
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, 3 * 4 * rows);
    pace_emit_op(to, "aten::nll_loss_nd > aten::nll_loss_forward",
                 pace_emit_rows(to, PACE_OP_LOSS, "nll", PACE_PASS_FORWARD, rows, 1, view->bytes));
    pace_emit_close(to);
}

void pace_forward_loss(pace_lowering *to, const layer_view *view) {
    forward_loss(to, view);
    if (pace_lower_reads_first(to)) pace_lower_read_loss(to);
}

void pace_forward_view(pace_lowering *to, const layer_view *view) {
    pace_emit_host(to, view->layer->kind == PACE_LAYER_SELECT ? "aten::select" : "aten::flatten");
}

void pace_lower_forward(pace_lowering *to, uint32_t number) {
    layer_view view = pace_layer_view_of(to, number);
    to->keeps = to->config->mode == PACE_TRAINING || to->uses[number] > 1;
    to->adapts = pace_model_adapts(to->model, view.layer);
    if (!view.layer->rule->forward) return;
    cast_inputs(to, &view);
    view.layer->rule->forward(to, &view);
}

static void activate_again(pace_lowering *to, uint32_t number) {
    layer_view view = pace_layer_view_of(to, number);
    double ffn = view.layer->option[PACE_OPTION_FFN] / pace_config_expert_split(to->config);
    activate_experts(to, &view, pace_lower_expert_size(to, view.layer).rows * ffn);
}

void pace_lower_again(pace_lowering *to, uint32_t number, unsigned *products) {
    pace_again again = pace_layer_again(to->model, number, to->config, products);
    if (again == PACE_AGAIN_ALL) pace_lower_forward(to, number);
    else if (again == PACE_AGAIN_ACTIVATION) activate_again(to, number);
}
