/*
 * The operators of each kind of layer in the backward pass: autograd's functions in reverse order, on its thread.
 * A gradient that reaches an output for the second time is added to the first; a parameter's is kept by
 * AccumulateGrad, which copies nothing when there was none before (zero_grad sets gradients to none by default).
 */
#include "model/lower_ops.h"
#include "model/lower_region.h"

#include <string.h>

typedef pace_layer_view layer_view;

/* One more gradient for the layer's output. */
static void give_gradient(pace_lowering *to, uint32_t number) {
    if (!to->needs_gradient[number]) return;
    if (++to->gradients[number] < 2) return;
    pace_emit_op(to, "aten::add_",
                 pace_emit_elementwise(to, "add", pace_emit_elements(to, &to->model->layers.items[number].shape), 2, 1,
                                       to->bytes[number]));
}

void pace_backward_give(pace_lowering *to, const layer_view *view) {
    for (uint32_t i = 0; i < view->layer->input_count; i++)
        give_gradient(to, to->model->inputs.items[view->layer->first_input + i]);
}

/* A function with one kernel. */
void pace_backward_map(pace_lowering *to, const layer_view *view, const char *function, const char *name, pace_op op) {
    pace_emit_open_backward(to, function);
    pace_emit_op(to, name, op);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_one_map(pace_lowering *to, const char *function, const char *name, const char *kind, double elements,
                           double inputs, int bytes) {
    pace_emit_backward_op(to, function, name, pace_emit_elementwise(to, kind, elements, inputs, 1, bytes));
}

static void accumulate(pace_lowering *to, double elements) {
    pace_lower_gradient(to, (pace_gradient_tensor){.elements = elements});
}

/* The layer's parameter tensors: the weights together are all but the biases. */
void pace_backward_keep(pace_lowering *to, const layer_view *view) {
    double all = pace_lower_parameters(to, view->layer);
    for (unsigned i = 0; i < view->layer->tensors; i++) accumulate(to, all / view->layer->tensors);
}

static void accumulate_weight_and_bias(pace_lowering *to, const layer_view *view, double bias) {
    double all = pace_lower_parameters(to, view->layer);
    bool has_bias = view->layer->option[PACE_OPTION_BIAS] > 0;
    if (has_bias) accumulate(to, bias);
    if (all > bias || !has_bias) accumulate(to, has_bias ? all - bias : all);
}

void pace_backward_cast(pace_lowering *to, pace_samples samples, double elements, int from_bytes, int to_bytes) {
    if (from_bytes == to_bytes || to_bytes == 8) return;
    pace_emit_sized_backward_op(to, samples, "ToCopyBackward0", "aten::to > aten::_to_copy > aten::copy_",
                                pace_emit_cast(to, elements, from_bytes, to_bytes));
}

static void cast_inputs_back(pace_lowering *to, const layer_view *view) {
    const pace_layer *layer = view->layer;
    if (!pace_config_is_amp(to->config) || !pace_lower_is_cast(layer)) return;
    for (uint32_t i = 0; i < layer->input_count; i++) {
        uint32_t from = to->model->inputs.items[layer->first_input + i];
        if (to->needs_gradient[from])
            pace_backward_cast(to, PACE_SAMPLES_FIRST, pace_emit_elements(to, &to->model->layers.items[from].shape),
                               view->bytes, to->bytes[from]);
    }
}

/* The parameters' gradients too, before they are kept. */
static void cast_parameters_back(pace_lowering *to, const layer_view *view) {
    bool cast = pace_config_is_amp(to->config) && view->bytes == 2 && !to->frozen;
    if (!cast || !(view->layer->parameters > 0)) return;
    pace_backward_cast(to, PACE_SAMPLES_NONE, pace_lower_parameters(to, view->layer), 2, 4);
}

/* A weight that another layer's gradient is kept for already. */
static void add_to_tied(pace_lowering *to, const layer_view *view) {
    const double *option = view->layer->option;
    double filter = option[PACE_OPTION_KERNEL] * option[PACE_OPTION_KERNEL_WIDTH] / option[PACE_OPTION_GROUPS];
    double weight = view->layer->shape.channels * view->input->shape.channels * filter;
    if (!to->frozen)
        pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::add_",
                           pace_emit_elementwise(to, "add", weight, 2, 1, view->bytes));
}

void pace_backward_convolution(pace_lowering *to, const layer_view *view) {
    bool weights = !to->frozen;
    pace_emit_open_backward(to, "ConvolutionBackward0");
    pace_emit_open(to, "aten::convolution_backward");
    if (view->wants)
        pace_emit_launch(to, pace_lower_convolution(to, view->layer, PACE_PASS_BACKWARD_DATA, view->bytes));
    if (weights) pace_emit_launch(to, pace_lower_convolution(to, view->layer, PACE_PASS_BACKWARD_WEIGHT, view->bytes));
    if (weights && view->layer->option[PACE_OPTION_BIAS] > 0)
        pace_emit_launch(to, pace_emit_sums(to, view->layer->shape.channels, pace_emit_places(to, &view->layer->shape),
                                            view->bytes));
    pace_emit_close(to);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    cast_parameters_back(to, view);
    if (view->layer->option[PACE_OPTION_TIED] > 0) add_to_tied(to, view);
    else accumulate_weight_and_bias(to, view, view->layer->shape.channels);
}

/* Backward, the first of a block's layers that split the work on one input comes last: then its gradient is summed.
 * Each block of a decoder sums its own of the encoder's output. */
static bool is_last_to_read(const pace_lowering *to, const layer_view *view) {
    for (uint32_t i = view->from + 1; i < view->number; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        bool splits = layer->shard == PACE_SHARD_COLUMN && layer->segment == view->layer->segment;
        if (splits && to->model->inputs.items[layer->first_input] == view->from) return false;
    }
    return true;
}

/* A zero-bubble pipeline forms gradients of inputs first, those of weights in a turn of their own. */
static bool forms_inputs(const pace_lowering *to) { return to->turn.pass != PACE_TURN_WEIGHTS; }
static bool forms_weights(const pace_lowering *to) { return to->turn.pass != PACE_TURN_INPUTS && !to->frozen; }

/* The embedding has a gradient of its own to be added to; on another stage than it the copy keeps its own. */
static void accumulate_linear(pace_lowering *to, const layer_view *view, double n, double k) {
    bool bias = view->layer->option[PACE_OPTION_BIAS] > 0, tied = pace_lower_is_tied(view->layer);
    bool copy = tied && pace_lower_has_tied_copy(to);
    if (tied && !copy)
        pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::add_",
                           pace_emit_elementwise(to, "add", n * k, 2, 1, view->bytes));
    if (bias) accumulate(to, n);
    if (!tied || copy) accumulate(to, n * k);
}

/* What ranks that share a layer sum of the gradient of its input; 0 = nothing. */
static double shared_bytes(const pace_lowering *to, const layer_view *view) {
    bool sums = forms_inputs(to) && view->wants && view->layer->shard == PACE_SHARD_COLUMN && to->config->tp > 1;
    if (!sums || !is_last_to_read(to, view)) return 0;
    return pace_emit_places(to, &view->input->shape) * view->input->shape.channels * view->bytes;
}

/* They sum it beside the product of the weight's gradient (Megatron Core, linear layers with asynchronous
 * communication). Where words are split they gather before they scatter: half is in the open. Returns what waits. */
static uint32_t sum_beside(pace_lowering *to, double bytes) {
    bool split = to->config->sequence_parallel > 0;
    if (split) pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, bytes / 2);
    uint32_t before = to->await_exchange;
    pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, split ? bytes / 2 : bytes);
    uint32_t sum = to->await_exchange;
    to->await_exchange = before;
    return sum;
}

void pace_backward_linear(pace_lowering *to, const layer_view *view) {
    const pace_layer *layer = view->layer;
    bool bias = layer->option[PACE_OPTION_BIAS] > 0, inputs = forms_inputs(to), weights = forms_weights(to);
    double m = pace_emit_places(to, &view->input->shape), n = pace_emit_channels(to, &layer->shape);
    double k = pace_emit_channels(to, &view->input->shape);
    if (layer->shape.sequence && inputs) pace_emit_backward_view(to, bias ? "ViewBackward0" : "UnsafeViewBackward0");
    pace_emit_open_backward(to, bias ? "AddmmBackward0" : "MmBackward0");
    if (view->wants && inputs) pace_lower_widen(to, layer, n * k);
    if (view->wants && inputs)
        pace_emit_op(to, "aten::mm",
                     pace_emit_in_segment(to, layer,
                                          pace_emit_linear(to, PACE_PASS_BACKWARD_DATA, m, n, k, view->bytes)));
    double sum_bytes = shared_bytes(to, view);
    bool beside = sum_bytes > 0 && weights && to->config->sums_beside;
    uint32_t sum = beside ? sum_beside(to, sum_bytes) : PACE_NO_LAUNCH;
    if (weights)
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::mm",
                           pace_emit_in_segment(to, layer,
                                                pace_emit_linear(to, PACE_PASS_BACKWARD_WEIGHT, m, n, k, view->bytes)));
    if (bias && weights)
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::sum", pace_emit_sums(to, n, m, view->bytes));
    if (beside) to->await_exchange = sum;
    if (inputs) pace_backward_give(to, view);
    pace_emit_close_backward(to);
    if (sum_bytes > 0 && !beside) pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, sum_bytes);
    if (layer->shape.sequence && inputs) pace_emit_backward_view(to, "ViewBackward0");
    pace_emit_backward_view(to, "TBackward0");
    if (to->turn.pass != PACE_TURN_INPUTS) cast_parameters_back(to, view);
    if (weights) accumulate_linear(to, view, n, k);
}

void pace_backward_batch_norm(pace_lowering *to, const layer_view *view) {
    pace_op op = pace_lower_batch_norm(to, view, PACE_PASS_BACKWARD);
    pace_backward_map(to, view, "CudnnBatchNormBackward0", "aten::cudnn_batch_norm_backward", op);
    pace_backward_keep(to, view);
}

void pace_backward_layer_norm(pace_lowering *to, const layer_view *view) {
    pace_backward_map(to, view, "NativeLayerNormBackward0", "aten::native_layer_norm_backward",
                      pace_lower_layer_norm(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
    pace_backward_keep(to, view);
}

void pace_backward_rms_norm(pace_lowering *to, const layer_view *view) {
    double n = view->elements, columns = view->layer->option[PACE_OPTION_WIDTH], rows = n / columns;
    int wide = pace_lower_norm_bytes(to, view->bytes);
    if (to->config->fuses_norms) {
        pace_backward_map(to, view, "FusedRmsNormBackward0", "aten::_fused_rms_norm_backward",
                          pace_lower_layer_norm(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
        pace_backward_keep(to, view);
        return;
    }
    pace_emit_open_backward(to, "MulBackward0"); /* by the weight */
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 1, 1, view->bytes));
    if (!to->frozen) {
        pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 2, 1, view->bytes));
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::sum", pace_emit_sums(to, columns, rows, view->bytes));
    }
    pace_emit_close_backward(to);
    pace_backward_keep(to, view);
    pace_backward_cast(to, PACE_SAMPLES_FIRST, n, view->bytes, wide);
    pace_emit_open_backward(to, "MulBackward0"); /* by the scale */
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 1, 1, wide));
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 2, 1, wide));
    pace_emit_op(to, "aten::sum", pace_emit_sums(to, rows, columns, wide));
    pace_emit_close_backward(to);
    pace_backward_map(to, view, "RsqrtBackward0", "aten::mul", pace_emit_elementwise(to, "mul", rows, 2, 1, wide));
    pace_emit_backward_view(to, "AddBackward0");
    pace_backward_one_map(to, "MeanBackward1", "aten::div", "div", n, 0, wide);
    pace_emit_open_backward(to, "PowBackward0");
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 2, 1, wide));
    pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", n, 2, 1, wide));
    pace_emit_close_backward(to);
    pace_backward_cast(to, PACE_SAMPLES_FIRST, n, wide, view->bytes);
}

void pace_backward_activation(pace_lowering *to, const layer_view *view) {
    const pace_activation *activation = pace_lower_activation(view->layer->word);
    if (activation->second) {
        pace_emit_backward_op(to, activation->function, activation->backward,
                              pace_emit_elementwise(to, activation->kind, view->elements, activation->reads, 1,
                                                    view->bytes));
        pace_backward_map(to, view, "ReluBackward0", "aten::threshold_backward",
                          pace_emit_elementwise(to, "relu", view->elements, 2, 1, view->bytes));
        return;
    }
    pace_backward_map(to, view, activation->function, activation->backward,
                      pace_emit_elementwise(to, activation->kind, view->elements, activation->reads, 1, view->bytes));
}

void pace_backward_dropout(pace_lowering *to, const layer_view *view) {
    if (!(view->layer->option[PACE_OPTION_P] > 0)) {
        pace_backward_give(to, view);
        return;
    }
    pace_backward_map(to, view, "NativeDropoutBackward0", "aten::native_dropout_backward",
                      pace_emit_elementwise(to, "dropout", view->elements, 1 + 1.0 / view->bytes, 1, view->bytes));
}

void pace_backward_scale(pace_lowering *to, const layer_view *view) {
    pace_backward_map(to, view, "MulBackward0", "aten::mul",
                      pace_emit_elementwise(to, "mul", view->elements, 1, 1, view->bytes));
}

/* Windows may overlap: the gradient is zeroed, then added to. */
void pace_backward_pool(pace_lowering *to, const layer_view *view) {
    bool max = view->layer->kind == PACE_LAYER_MAX_POOL;
    pace_emit_open_backward(to, max ? "MaxPool2DWithIndicesBackward0" : "AvgPool2DBackward0");
    pace_emit_open(to, max ? "aten::max_pool2d_with_indices_backward" : "aten::avg_pool2d_backward");
    if (max) pace_emit_op(to, "aten::zero_", pace_emit_copy(to, "fill", view->in_elements, view->bytes));
    pace_emit_launch(to, pace_lower_pooling(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
    pace_emit_close(to);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_adaptive_pool(pace_lowering *to, const layer_view *view) {
    if (view->layer->shape.height == 1)
        pace_backward_map(to, view, "MeanBackward1", "aten::div",
                          pace_emit_elementwise(to, "div", view->in_elements, view->elements / view->in_elements, 1,
                                                view->bytes));
    else
        pace_backward_map(to, view, "AdaptiveAvgPool2DBackward0", "aten::_adaptive_avg_pool2d_backward",
                          pace_lower_pooling(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
}

/* The gradient of the whole table, zeroes but for the rows that were looked up. */
static void embedding_gradient(pace_lowering *to, const layer_view *view, double width) {
    double table = view->layer->option[PACE_OPTION_ROWS] * width;
    if (view->layer->kind == PACE_LAYER_EMBEDDING) table /= to->config->tp;
    if (to->frozen) return;
    pace_emit_open_backward(to, "EmbeddingBackward0");
    pace_emit_open(to, "aten::embedding_backward");
    pace_emit_open(to, "aten::embedding_dense_backward");
    pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::zeros", pace_emit_copy(to, "fill", table, view->bytes));
    pace_emit_launch(to, pace_lower_embedding(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
    pace_emit_close(to);
    pace_emit_close(to);
    pace_emit_close_backward(to);
    if (view->layer->option[PACE_OPTION_TIED] > 0)
        pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::add_",
                           pace_emit_elementwise(to, "add", table, 2, 1, view->bytes));
    else accumulate(to, table);
}

void pace_backward_embedding(pace_lowering *to, const layer_view *view) {
    embedding_gradient(to, view, view->layer->option[PACE_OPTION_WIDTH]);
}

void pace_backward_positions(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "AddBackward0");
    if (!to->frozen)
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::sum",
                           pace_emit_sums(to, view->elements / to->batch, to->batch, view->bytes));
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    embedding_gradient(to, view, view->layer->shape.channels);
}

/* Lin et al.'s kernel updates the rows in place: there is no gradient to keep. */
void pace_backward_embedding_bag(pace_lowering *to, const layer_view *view) {
    if (to->config->ep > 1) pace_emit_exchange(to, "alltoall", PACE_GROUP_EXPERT, view->elements * view->bytes);
    pace_backward_map(to, view, "LookupFunctionBackward", "LookupFunctionBackward",
                      pace_lower_embedding(to, view->layer, PACE_PASS_BACKWARD, view->bytes));
}

void pace_backward_interaction(pace_lowering *to, const layer_view *view) {
    double width = view->input->shape.channels;
    double vectors = 1 + pace_layer_input(to->model, view->layer, 1)->shape.channels / width;
    pace_emit_backward_view(to, "CatBackward0");
    pace_emit_open_backward(to, "IndexBackward0");
    pace_emit_op(to, "aten::zeros", pace_emit_copy(to, "fill", to->batch * vectors * vectors, view->bytes));
    pace_emit_op(to, "aten::_index_put_impl_", pace_lower_tril(to, vectors, PACE_PASS_BACKWARD, view->bytes));
    pace_emit_close_backward(to);
    pace_emit_open_backward(to, "BmmBackward0");
    for (int i = 0; i < 2; i++)
        pace_emit_op(to, "aten::bmm", pace_emit_gemm(to, to->batch, vectors, width, vectors, view->bytes));
    pace_emit_close_backward(to);
    pace_emit_backward_view(to, "TransposeBackward0");
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", to->batch * vectors * width, 2, 1, view->bytes));
    pace_emit_open_backward(to, "CatBackward0");
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_two_products(pace_lowering *to, double b, double m, double n, double k, int bytes) {
    pace_emit_backward_view(to, "UnsafeViewBackward0");
    pace_emit_open_backward(to, "BmmBackward0");
    pace_emit_op(to, "aten::bmm", pace_emit_gemm(to, b, m, k, n, bytes));
    pace_emit_op(to, "aten::bmm", pace_emit_gemm(to, b, k, n, m, bytes));
    pace_emit_close_backward(to);
}

void pace_backward_local_norm(pace_lowering *to, const layer_view *view) {
    double n = view->elements;
    int bytes = view->bytes;
    pace_backward_one_map(to, "DivBackward0", "aten::div", "div", n, 2, bytes);
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 3, 1, bytes));
    pace_backward_one_map(to, "PowBackward0", "aten::mul", "pow", n, 3, bytes);
    pace_emit_backward_view(to, "AddBackward0");
    pace_backward_one_map(to, "MulBackward0", "aten::mul", "mul", n, 1, bytes);
    pace_emit_backward_op(to, "AvgPool3DBackward0", "aten::avg_pool3d_backward",
                          pace_lower_other(to, "avg_pool3d", n, bytes));
    pace_emit_backward_op(to, "ConstantPadNdBackward0", "aten::constant_pad_nd", pace_emit_copy(to, "pad", n, bytes));
    pace_emit_open_backward(to, "MulBackward0");
    for (int i = 0; i < 2; i++) pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", n, 2, 1, bytes));
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", n, 2, 1, bytes));
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_additive_attention(pace_lowering *to, const layer_view *view) {
    double pairs = to->batch * to->sequence * to->sequence, width = view->input->shape.channels;
    int bytes = view->bytes;
    pace_backward_two_products(to, to->batch, to->sequence, view->layer->shape.channels, to->sequence, bytes);
    pace_emit_backward_op(to, "SoftmaxBackward0", "aten::_softmax_backward_data",
                          pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_BACKWARD, pairs / to->sequence,
                                         to->sequence, bytes));
    pace_emit_open_backward(to, "MvBackward0");
    pace_emit_op(to, "aten::ger", pace_emit_gemm(to, 1, pairs, width, 1, bytes));
    pace_emit_op(to, "aten::mv", pace_emit_gemm(to, 1, width, 1, pairs, bytes));
    pace_emit_close_backward(to);
    pace_backward_keep(to, view);
    pace_backward_one_map(to, "TanhBackward0", "aten::tanh_backward", "tanh", pairs * width, 2, bytes);
    pace_emit_open_backward(to, "AddBackward0");
    for (int i = 0; i < 2; i++)
        pace_emit_op(to, "aten::sum", pace_emit_sums(to, pairs / to->sequence * width, to->sequence, bytes));
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_lstm(pace_lowering *to, const layer_view *view) {
    double hidden = view->layer->option[PACE_OPTION_HIDDEN], in = view->input->shape.channels;
    double directions = view->layer->option[PACE_OPTION_BIDIRECTIONAL] > 0 ? 2 : 1;
    double rows = to->batch * to->sequence, count = view->layer->option[PACE_OPTION_LAYERS] * directions;
    pace_emit_open_backward(to, "CudnnRnnBackward0");
    pace_emit_open(to, "aten::_cudnn_rnn_backward");
    for (double i = count - 1; i >= 0; i--) {
        double width = i < directions ? in : hidden * directions;
        for (double step = 0; step < to->sequence && to->status == PACE_OK; step++) {
            pace_emit_launch(to, pace_emit_elementwise(to, "lstm_cell", to->batch * hidden, 8, 5, view->bytes));
            pace_emit_launch(to, pace_emit_gemm(to, 1, to->batch, hidden, 4 * hidden, view->bytes));
        }
        if (view->wants || i >= directions)
            pace_emit_launch(to, pace_emit_gemm(to, 1, rows, width, 4 * hidden, view->bytes));
        pace_op product = pace_emit_gemm(to, 1, 4 * hidden, width, rows, view->bytes);
        pace_emit_sized_launch(to, PACE_SAMPLES_SUMMED, product);
        product = pace_emit_gemm(to, 1, 4 * hidden, hidden, rows, view->bytes);
        pace_emit_sized_launch(to, PACE_SAMPLES_SUMMED, product);
    }
    pace_emit_close(to);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    cast_parameters_back(to, view);
    pace_backward_keep(to, view);
}

static void grouped_back(pace_lowering *to, const pace_layer *layer, const pace_expert_size *size, double n, double k,
                         int bytes) {
    pace_emit_open_backward(to, "GroupedMmBackward0");
    if (forms_inputs(to))
        pace_emit_sized_op(to, PACE_SAMPLES_ROWS, "aten::_grouped_mm",
                           pace_emit_in_segment(to, layer, pace_emit_gemm(to, size->groups, size->each, k, n, bytes)));
    if (forms_weights(to))
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::_grouped_mm",
                           pace_emit_in_segment(to, layer, pace_emit_gemm(to, size->groups, n, k, size->each, bytes)));
    pace_emit_close_backward(to);
}

/* The router is on every rank, experts on one of `ep`. */
static void accumulate_experts(pace_lowering *to, const layer_view *view) {
    double router = view->layer->shape.channels * view->layer->option[PACE_OPTION_EXPERTS];
    double experts = pace_lower_parameters(to, view->layer) - router;
    unsigned products = view->layer->tensors - 1;
    for (unsigned i = 0; i < products; i++)
        pace_lower_gradient(to, (pace_gradient_tensor){.elements = experts / products, .expert = to->config->ep > 1});
    accumulate(to, router);
}

/* Of a turn of their own. */
static void expert_weights(pace_lowering *to, const layer_view *view, const pace_expert_size *size, double tokens) {
    const double *option = view->layer->option;
    double ffn = option[PACE_OPTION_FFN] / pace_config_expert_split(to->config), in = view->input->shape.channels;
    grouped_back(to, view->layer, size, in, ffn, view->bytes);
    grouped_back(to, view->layer, size, option[PACE_OPTION_GATED] > 0 ? 2 * ffn : ffn, in, view->bytes);
    pace_emit_sized_backward_op(to, PACE_SAMPLES_SUMMED, "MmBackward0", "aten::mm",
                                pace_emit_gemm(to, 1, option[PACE_OPTION_EXPERTS], in, tokens, view->bytes));
    cast_parameters_back(to, view);
    accumulate_experts(to, view);
}

void pace_backward_experts(pace_lowering *to, const layer_view *view) {
    const double *option = view->layer->option;
    double tokens = pace_emit_places(to, &view->input->shape) * pace_lower_routed_share(to);
    double in = view->input->shape.channels;
    pace_expert_size size = pace_lower_expert_size(to, view->layer);
    bool gated = option[PACE_OPTION_GATED] > 0;
    double ffn = option[PACE_OPTION_FFN] / pace_config_expert_split(to->config), up = gated ? 2 * ffn : ffn,
           inner = size.rows * ffn;
    int bytes = view->bytes;
    if (to->config->sorts_on_host && forms_inputs(to)) pace_region_dispatch(to);
    if (!forms_inputs(to)) {
        expert_weights(to, view, &size, tokens);
        return;
    }
    pace_emit_backward_op(to, "IndexAddBackward0", "aten::index_select",
                          pace_emit_copy(to, "gather", size.rows * in, bytes));
    pace_backward_one_map(to, "MulBackward0", "aten::mul", "mul", size.rows * in, 1, bytes);
    pace_lower_dispatch(to, &size, in, bytes);
    pace_lower_widen(to, view->layer, size.groups * (up + ffn) * in);
    grouped_back(to, view->layer, &size, in, ffn, bytes);
    if (gated) {
        pace_backward_one_map(to, "MulBackward0", "aten::mul", "mul", inner, 2, bytes);
        pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", inner, 2, 1, bytes));
    }
    pace_backward_one_map(to, gated ? "SiluBackward0" : "GeluBackward0",
                          gated ? "aten::silu_backward" : "aten::gelu_backward", gated ? "silu" : "gelu", inner, 2,
                          bytes);
    grouped_back(to, view->layer, &size, up, in, bytes);
    pace_lower_dispatch(to, &size, in, bytes);
    if (pace_config_expert_split(to->config) > 1)
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, tokens * in * bytes);
    pace_emit_open_backward(to, "IndexBackward0");
    pace_emit_op(to, "aten::zeros", pace_emit_copy(to, "fill", tokens * in, bytes));
    pace_emit_op(to, "aten::_index_put_impl_", pace_emit_copy(to, "scatter", size.rows * in, bytes));
    pace_emit_close_backward(to);
    pace_emit_backward_op(to, "SoftmaxBackward0", "aten::_softmax_backward_data",
                          pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_BACKWARD, tokens,
                                         option[PACE_OPTION_EXPERTS], bytes));
    pace_emit_open_backward(to, "MmBackward0");
    pace_emit_op(to, "aten::mm", pace_emit_gemm(to, 1, tokens, in, option[PACE_OPTION_EXPERTS], bytes));
    if (forms_weights(to))
        pace_emit_sized_op(to, PACE_SAMPLES_SUMMED, "aten::mm",
                           pace_emit_gemm(to, 1, option[PACE_OPTION_EXPERTS], in, tokens, bytes));
    pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", tokens * in, 2, 1, bytes));
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    if (to->turn.pass == PACE_TURN_INPUTS) return;
    cast_parameters_back(to, view);
    accumulate_experts(to, view);
}

void pace_backward_view(pace_lowering *to, const layer_view *view) {
    bool select = view->layer->kind == PACE_LAYER_SELECT;
    pace_emit_open_backward(to, select ? "SelectBackward0" : "ViewBackward0");
    if (select) pace_emit_op(to, "aten::select_backward", pace_emit_copy(to, "fill", view->in_elements, view->bytes));
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

/* The gradient of a number for each channel: the sum over its places. */
static void sum_places(pace_lowering *to, const layer_view *view, uint32_t i) {
    double share = pace_lower_share_of_input(to, view, i);
    if (share < 1) pace_emit_op(to, "aten::sum", pace_emit_sums(to, view->elements * share, 1 / share, view->bytes));
}

void pace_backward_add(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "AddBackward0");
    for (uint32_t i = 1; i < view->layer->input_count; i++) sum_places(to, view, i);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

static void backward_factor(pace_lowering *to, const layer_view *view, uint32_t i) {
    double other = 0;
    for (uint32_t k = 0; k < view->layer->input_count; k++)
        if (k != i) other += pace_lower_share_of_input(to, view, k);
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 1 + other, 1, view->bytes));
    sum_places(to, view, i);
}

void pace_backward_multiply(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "MulBackward0");
    for (uint32_t i = 0; i < view->layer->input_count; i++) backward_factor(to, view, i);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_concat(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "CatBackward0");
    for (uint32_t i = 0; i < view->layer->input_count; i++) pace_emit_host(to, "aten::narrow");
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_backward_loss(pace_lowering *to, const layer_view *view) {
    double rows = pace_emit_places(to, &view->input->shape), columns = pace_emit_channels(to, &view->input->shape);
    if (strcmp(view->layer->word, "cross_entropy") != 0) {
        bool square = strcmp(view->layer->word, "mse") == 0;
        pace_backward_map(to, view, square ? "MseLossBackward0" : "BinaryCrossEntropyBackward0",
                          square ? "aten::mse_loss_backward" : "aten::binary_cross_entropy_backward",
                          pace_emit_rows(to, PACE_OP_LOSS, view->layer->word, PACE_PASS_BACKWARD, rows, columns,
                                         view->bytes));
        return;
    }
    if (pace_config_parts_loss(to->config)) {
        pace_backward_parts_loss(to, view, rows, columns);
        pace_backward_give(to, view);
        return;
    }
    pace_emit_open_backward(to, "NllLossBackward0");
    pace_emit_open(to, "aten::nll_loss_backward");
    pace_emit_op(to, "aten::zero_", pace_emit_copy(to, "fill", rows * columns, view->bytes));
    pace_emit_launch(to, pace_emit_rows(to, PACE_OP_LOSS, "nll", PACE_PASS_BACKWARD, rows, 1, view->bytes));
    pace_emit_close(to);
    pace_emit_close_backward(to);
    pace_backward_map(to, view, "LogSoftmaxBackward0", "aten::_log_softmax_backward_data",
                      pace_emit_rows(to, PACE_OP_SOFTMAX, "log", PACE_PASS_BACKWARD, rows, columns, view->bytes));
}

void pace_lower_backward(pace_lowering *to, uint32_t number) {
    layer_view view = pace_layer_view_of(to, number);
    bool inputs = forms_inputs(to);
    to->keeps = false;
    to->frozen = to->config->frozen > 0 || view.layer->frozen;
    to->adapts = pace_model_adapts(to->model, view.layer);
    if (!view.layer->rule->backward || !to->needs_gradient[number]) return;
    if (!inputs && !pace_layer_puts_off(view.layer)) return;
    view.layer->rule->backward(to, &view);
    if (inputs) cast_inputs_back(to, &view);
}
