#include "model/lower_ops.h"

#include <math.h>
#include <string.h>

pace_layer_view pace_layer_view_of(const pace_lowering *to, uint32_t number) {
    const pace_layer *layer = &to->model->layers.items[number];
    bool has_input = layer->input_count > 0;
    uint32_t from = has_input ? to->model->inputs.items[layer->first_input] : number;
    const pace_layer *input = &to->model->layers.items[from];
    return (pace_layer_view){.layer = layer,
                             .input = input,
                             .number = number,
                             .from = from,
                             .elements = pace_emit_elements(to, &layer->shape),
                             .in_elements = pace_emit_elements(to, &input->shape),
                             .bytes = to->bytes[number],
                             .in_bytes = to->bytes[from],
                             .wants = has_input && to->needs_gradient[from]};
}

/* Inference knows the statistics: each element is scaled and shifted. */
pace_op pace_lower_batch_norm(pace_lowering *to, const pace_layer_view *view, pace_pass pass) {
    const pace_config *config = to->config;
    if (config->mode != PACE_TRAINING) return pace_emit_elementwise(to, "normalize", view->elements, 1, 1, view->bytes);
    double channels = view->layer->shape.channels, tensors = pass == PACE_PASS_FORWARD ? 1 : 2;
    bool apart = config->execution == PACE_COMPILED && !config->sums_in_convolutions;
    if (!apart)
        return pace_emit_rows(to, PACE_OP_NORMALIZATION, "batch_norm", pass, pace_emit_places(to, &view->layer->shape),
                              channels, view->bytes);
    pace_emit_op(to, "aten::var_mean", pace_emit_sums(to, channels, tensors * view->elements / channels, view->bytes));
    pace_emit_flush(to);
    return pace_emit_elementwise(to, "normalize", view->elements, tensors, 1, view->bytes);
}

double pace_lower_share_of_input(const pace_lowering *to, const pace_layer_view *view, uint32_t i) {
    return pace_emit_elements(to, &pace_layer_input(to->model, view->layer, i)->shape) / view->elements;
}

static const pace_activation activations[] = {
    {"relu", "relu", "aten::relu_", NULL, "ReluBackward0", "aten::threshold_backward", 2},
    {"relu6", "relu6", "aten::hardtanh_", NULL, "HardtanhBackward0", "aten::hardtanh_backward", 2},
    {"gelu", "gelu", "aten::gelu", NULL, "GeluBackward0", "aten::gelu_backward", 2},
    {"silu", "silu", "aten::silu", NULL, "SiluBackward0", "aten::silu_backward", 2},
    {"tanh", "tanh", "aten::tanh", NULL, "TanhBackward0", "aten::tanh_backward", 2},
    {"sigmoid", "sigmoid", "aten::sigmoid", NULL, "SigmoidBackward0", "aten::sigmoid_backward", 2},
    {"squared_relu", "pow", "aten::pow", "aten::relu", "PowBackward0", "aten::mul", 3},
};

const pace_activation *pace_lower_activation(const char *word) {
    size_t i = 0;
    while (strcmp(activations[i].word, word) != 0) i++;
    return &activations[i];
}

static pace_op finish(pace_op op, const char *kind) {
    size_t length = strlen(kind);
    memcpy(op.kind, kind, length < sizeof op.kind ? length : sizeof op.kind - 1);
    pace_op_complete(&op);
    return op;
}

/* Without matrix units in play, half precision is a way to hold numbers. */
static pace_precision held(const pace_lowering *to, int bytes) {
    return bytes != 2 ? PACE_FP32 : pace_config_matrix_precision(to->config) == PACE_FP16 ? PACE_FP16 : PACE_BF16;
}

static double tokens_of(const pace_lowering *to, const pace_shape *shape) {
    return shape->sequence ? to->sequence : shape->height * shape->width;
}

/* Tokens of a part that attends to itself; 0 = all do. Kernels compute the parts of a sequence alone, such as samples
 * that are packed into it, or what a window shows of it; where scores go through memory all are formed, and a mask
 * hides the others. */
static double part_of(const pace_lowering *to, const pace_layer *layer, double keys) {
    double window = layer->option[PACE_OPTION_WINDOW], sample = to->config->sample_tokens, part = keys;
    if (!layer->shape.sequence) return window;
    if (pace_model_forms_scores(to->model, to->config)) return 0;
    if (window > 0 && window < keys) part = pace_layer_span(layer, keys);
    if (sample > 0) part = fmin(part, sample);
    return part < keys ? part : 0;
}

pace_attention pace_lower_attention_size(const pace_lowering *to, const pace_layer *layer) {
    const double *option = layer->option;
    double tp = layer->shape.sharded ? to->config->tp : 1;
    double kv_heads = option[PACE_OPTION_KV_HEADS] / tp; /* fewer than ranks: each holds one */
    const pace_shape *keys = &pace_layer_input(to->model, layer, layer->input_count - 1)->shape;
    double queries = tokens_of(to, &layer->shape);
    double seen = tokens_of(to, keys) * (keys->sequence ? to->config->cp : 1); /* those of the other ranks come by */
    double part = part_of(to, layer, seen);
    return (pace_attention){.b = to->batch * (part > 0 ? queries / part : 1),
                            .heads = option[PACE_OPTION_HEADS] / tp,
                            .kv_heads = kv_heads < 1 ? 1 : kv_heads,
                            .queries = part > 0 ? part : queries,
                            .keys = part > 0 ? part : seen,
                            .window = option[PACE_OPTION_SLIDING],
                            .samples = to->batch,
                            .held = seen,
                            .head_dim = option[PACE_OPTION_HEAD_DIM],
                            .value_dim = option[PACE_OPTION_VALUE_DIM],
                            .causal = option[PACE_OPTION_CAUSAL] > 0,
                            .drops = option[PACE_OPTION_DROPOUT] > 0 && to->config->mode == PACE_TRAINING};
}

int pace_lower_norm_bytes(const pace_lowering *to, int bytes) {
    return to->config->execution == PACE_EAGER ? 4 : bytes;
}

pace_score_bytes pace_lower_score_bytes(const pace_lowering *to, const pace_attention *size, int bytes) {
    if (!pace_config_is_amp(to->config)) return (pace_score_bytes){bytes, bytes, bytes};
    return size->causal ? (pace_score_bytes){bytes, 4, bytes} : (pace_score_bytes){4, 4, 4};
}

/* Where queries and values differ in width, the family's one width is their mean: the products come out the same. */
pace_op pace_lower_attention(const pace_lowering *to, const pace_attention *size, pace_pass pass, int bytes) {
    pace_op op = {.family = PACE_OP_ATTENTION,
                  .pass = pass,
                  .precision = bytes == 2 ? held(to, 2) : pace_config_matrix_precision(to->config),
                  .element_bytes = bytes,
                  .size = {size->b, size->heads, size->kv_heads, size->queries, size->keys,
                           (size->head_dim + size->value_dim) / 2, size->causal}};
    pace_attention_slide(op.size, size->window);
    return finish(op, bytes == 2 ? "" : "efficient"); /* which kernel frameworks run: attention of steps.yaml */
}

const char *pace_lower_attention_name(int bytes, bool backward) {
    if (bytes == 2)
        return backward ? "aten::_scaled_dot_product_flash_attention_backward"
                        : "aten::_scaled_dot_product_flash_attention";
    return backward ? "aten::_scaled_dot_product_efficient_attention_backward"
                    : "aten::_scaled_dot_product_efficient_attention";
}

bool pace_lower_channels_last(const pace_lowering *to, const pace_shape *image) {
    return to->config->layout == PACE_LAYOUT_NHWC || (image->last && pace_config_holds_nchw(to->config));
}

/* Single precision has copies before and after its kernels in the layout that frameworks keep it in, whose name is
 * "". */
static const char *layout_kind(const pace_lowering *to, const pace_op *op, const pace_shape *in) {
    if (pace_lower_channels_last(to, in)) return "nhwc";
    if (op->element_bytes != 2 || !pace_config_holds_nchw(to->config)) return "";
    bool as_laid = to->config->pixels_as_laid && op->pass == PACE_PASS_FORWARD && pace_convolution_as_laid(op);
    return as_laid ? "" : "nchw";
}

pace_op pace_lower_convolution_op(const pace_lowering *to, pace_op op, const pace_shape *in, int bytes) {
    op.precision = bytes == 2 ? held(to, 2) : pace_config_convolution_precision(to->config);
    op.element_bytes = bytes;
    return finish(op, layout_kind(to, &op, in));
}

pace_op pace_lower_convolution(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes) {
    const double *option = layer->option;
    const pace_shape *in = &pace_layer_input(to->model, layer, 0)->shape;
    pace_op op = {.family = PACE_OP_CONVOLUTION,
                  .pass = pass,
                  .size = {to->batch, in->channels, in->height, in->width, layer->shape.channels,
                           option[PACE_OPTION_KERNEL], option[PACE_OPTION_KERNEL_WIDTH], option[PACE_OPTION_STRIDE],
                           option[PACE_OPTION_STRIDE_WIDTH], option[PACE_OPTION_PAD], option[PACE_OPTION_PAD_WIDTH],
                           option[PACE_OPTION_DILATION], option[PACE_OPTION_GROUPS]}};
    return pace_lower_convolution_op(to, op, in, bytes);
}

/* Windows that hang over the far edge are padding on one side, so half of it on each: chosen so that the operation
 * has the layer's output. */
static double padding(double in, double out, double kernel, double stride, double pad) {
    double reach = (out - 1) * stride + kernel;
    return reach > in + 2 * pad ? (reach - in) / 2 : pad;
}

pace_op pace_lower_pooling(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes) {
    const double *option = layer->option;
    const pace_shape *in = &pace_layer_input(to->model, layer, 0)->shape, *out = &layer->shape;
    bool adaptive = layer->kind == PACE_LAYER_ADAPTIVE_POOL;
    double high = adaptive ? in->height - out->height + 1 : option[PACE_OPTION_KERNEL];
    double wide = adaptive ? in->width - out->width + 1 : option[PACE_OPTION_KERNEL_WIDTH];
    double stride_h = adaptive ? 1 : option[PACE_OPTION_STRIDE];
    double stride_w = adaptive ? 1 : option[PACE_OPTION_STRIDE_WIDTH];
    if (adaptive && in->height >= 2 * out->height) { /* windows side by side */
        stride_h = high = (double)(long long)(in->height / out->height);
        stride_w = wide = (double)(long long)(in->width / out->width);
    }
    if (high < 1) high = 1;
    if (wide < 1) wide = 1;
    return finish((pace_op){.family = PACE_OP_POOLING,
                            .pass = pass,
                            .precision = held(to, bytes),
                            .element_bytes = bytes,
                            .size = {to->batch, in->channels, in->height, in->width, high, wide, stride_h, stride_w,
                                     padding(in->height, out->height, high, stride_h, option[PACE_OPTION_PAD]),
                                     padding(in->width, out->width, wide, stride_w, option[PACE_OPTION_PAD_WIDTH])}},
                  layer->kind == PACE_LAYER_MAX_POOL ? "max" : "average");
}

/* Tables of one batched lookup that differ in rows are counted with their mean. */
pace_op pace_lower_embedding(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes) {
    const double *option = layer->option;
    double b = to->batch * to->sequence, tables = 1, lookups = 1;
    double rows = option[PACE_OPTION_ROWS] / (layer->kind == PACE_LAYER_EMBEDDING ? to->config->tp : 1);
    double width = option[PACE_OPTION_WIDTH];
    if (layer->kind == PACE_LAYER_POSITIONS) {
        b = tokens_of(to, &layer->shape);
        width = layer->shape.channels;
    }
    if (layer->kind == PACE_LAYER_EMBEDDING_BAG) {
        b = to->batch;
        tables = option[PACE_OPTION_TABLES];
        lookups = option[PACE_OPTION_LOOKUPS];
        rows = layer->parameters / (tables * width);
    }
    return finish((pace_op){.family = PACE_OP_EMBEDDING,
                            .pass = pass,
                            .precision = held(to, bytes),
                            .element_bytes = bytes,
                            .size = {b, tables, rows, lookups, width}},
                  layer->kind == PACE_LAYER_EMBEDDING_BAG ? "bag" : "");
}

/* Kernels written by hand take the gradients of scale and shift along (catalog/costs.yaml). */
pace_op pace_lower_layer_norm(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes) {
    double columns = layer->option[PACE_OPTION_WIDTH];
    return pace_emit_rows(to, PACE_OP_NORMALIZATION, to->config->fuses_norms ? "fused_layer_norm" : "layer_norm", pass,
                          pace_emit_elements(to, &layer->shape) / columns, columns, bytes);
}

pace_op pace_lower_tril(const pace_lowering *to, double vectors, pace_pass pass, int bytes) {
    return finish((pace_op){.family = PACE_OP_TRIL,
                            .pass = pass,
                            .precision = held(to, bytes),
                            .element_bytes = bytes,
                            .size = {to->batch, vectors, vectors, 0}},
                  "");
}

/* Reads a tensor, writes it and a mask of a byte an element. */
pace_op pace_lower_dropout(const pace_lowering *to, double elements, int bytes) {
    return pace_emit_elementwise(to, "dropout", elements, 1, 1 + 1.0 / bytes, bytes);
}

pace_op pace_lower_other(const pace_lowering *to, const char *kind, double elements, int bytes) {
    return finish(
        (pace_op){.family = PACE_OP_OTHER, .precision = held(to, bytes), .element_bytes = bytes, .size = {elements}},
        kind);
}

double pace_lower_routed_share(const pace_lowering *to) {
    return pace_config_expert_split(to->config) / to->config->tp;
}

/* Of the rank whose experts have most tokens, for which the others wait. */
pace_expert_size pace_lower_expert_size(const pace_lowering *to, const pace_layer *layer) {
    double more = 1 + to->config->imbalance / 100;
    double tokens = to->batch * to->sequence * pace_lower_routed_share(to);
    double rows = tokens * layer->option[PACE_OPTION_TOPK] * more;
    double experts = layer->option[PACE_OPTION_EXPERTS] / to->config->ep;
    double groups = rows < experts ? rows : experts;
    return (pace_expert_size){groups, rows / groups, rows, layer->option[PACE_OPTION_TOPK],
                              layer->option[PACE_OPTION_NODES]};
}

bool pace_lower_is_cast(const pace_layer *layer) {
    return layer->rule->autocast == PACE_AUTOCAST_HALF || layer->rule->autocast == PACE_AUTOCAST_SINGLE;
}

void pace_lower_widen(pace_lowering *to, const pace_layer *layer, double weights) {
    if (!(layer->packed > 0)) return;
    int bytes = pace_config_is_amp(to->config) ? 2 : pace_config_parameter_bytes(to->config);
    pace_op op = pace_emit_elementwise(to, "unpack", weights, 1, 1, bytes);
    op.read_bytes = weights * layer->packed;
    pace_emit_sized_op(to, PACE_SAMPLES_NONE, "bitsandbytes::dequantize_4bit", op);
}

double pace_lower_parameters(const pace_lowering *to, const pace_layer *layer) {
    double kept = layer->packed > 0 ? layer->packed / pace_config_parameter_bytes(to->config) : 1;
    double whole = layer->shard == PACE_SHARD_ROW && layer->option[PACE_OPTION_BIAS] > 0 ? layer->shape.channels : 0;
    if (layer->rule->rows_divided) return layer->parameters / to->config->tp;
    if (layer->rule->expert_elements) {
        double experts = layer->rule->expert_elements(layer);
        return layer->parameters - experts + kept * experts / (to->config->ep * pace_config_expert_split(to->config));
    }
    if (layer->shard == PACE_SHARD_NONE) whole = layer->parameters;
    return kept * (whole + (layer->parameters - whole) / to->config->tp);
}

bool pace_lower_is_tied(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_LINEAR && layer->option[PACE_OPTION_TIED] > 0;
}

double pace_lower_tied_elements(const pace_lowering *to, const pace_layer *layer) {
    return layer->shape.channels * pace_layer_input(to->model, layer, 0)->shape.channels / to->config->tp;
}

double pace_lower_tied_copy(const pace_lowering *to, const pace_layer *layer) {
    if (!pace_lower_has_tied_copy(to) || !pace_lower_is_tied(layer)) return 0;
    return pace_lower_tied_elements(to, layer);
}

/* Nodes to which a token goes at most, once to each; 0 = every copy goes by itself. */
static double token_nodes(const pace_config *config, const pace_expert_size *size) {
    if (config->expert_nodes > 0 || !config->tokens_once) return config->expert_nodes;
    return size->nodes > 0 ? size->nodes : size->copies;
}

void pace_lower_dispatch(pace_lowering *to, const pace_expert_size *size, double channels, int bytes) {
    if (!(to->config->ep > 1)) return;
    pace_emit_tokens(to, size->rows * channels * bytes, size->copies, token_nodes(to->config, size));
}

bool pace_lower_has_tied_copy(const pace_lowering *to) {
    return to->config->pp > 1 && !pace_schedule_is_v(to->config->schedule);
}

double pace_lower_context_bytes(const pace_lowering *to, const pace_attention *size, int bytes) {
    return size->samples * to->sequence * size->kv_heads * (size->head_dim + size->value_dim) * bytes;
}
