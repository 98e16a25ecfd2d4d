/* How the output, the parameters and the arithmetic of each kind of layer follow from its input. */
#include "model/layer_kinds.h"

#include <math.h>

#define OPT(layer, name) ((layer)->option[PACE_OPTION_##name])

static double flat(const pace_shape *shape) { return shape->channels * shape->height * shape->width; }

static pace_shape vector(const pace_shape *like, double channels) {
    return (pace_shape){
        .sequence = like->sequence, .sharded = like->sharded, .channels = channels, .height = 1, .width = 1};
}

/* Arithmetic of `count` multiply-adds at each place of the tensor. */
static void each_place(pace_layer *layer, const pace_shape *shape, double count) {
    layer->multiply_adds[shape->sequence ? 1 : 0] += count;
}

static pace_status image_only(const pace_shape *shape) {
    if (!shape->sequence && !shape->tokens) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "expected an image, found %s", shape->tokens ? "tokens" : "a sequence");
}

static pace_status tokens_only(const pace_shape *shape) {
    if (shape->tokens) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "expected the tokens of an image: \"to_tokens\" makes them");
}

/* (size + 2 pad - reach) / stride + 1; with ceil the last window may hang over the far edge (PyTorch's rule: it must
 * start inside). */
static pace_status windows(double *out, double size, double kernel, double stride, double pad, double dilation,
                           bool ceiling) {
    double room = size + 2 * pad - dilation * (kernel - 1) - 1;
    if (room < 0 || stride <= 0)
        return pace_fail(PACE_E_INPUT, "a filter of %g over %g places, padded by %g, leaves nothing", kernel, size,
                         pad);
    double count = (ceiling ? ceil(room / stride) : floor(room / stride)) + 1;
    if (ceiling && (count - 1) * stride >= size + pad) count -= 1;
    *out = count;
    return PACE_OK;
}

pace_status pace_infer_same(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    return PACE_OK;
}

pace_status pace_infer_convolution(pace_layer *layer, const pace_layer_inputs *from) {
    double in = from->shape[0].channels, out = OPT(layer, OUT), groups = OPT(layer, GROUPS);
    double filter = OPT(layer, KERNEL) * OPT(layer, KERNEL_WIDTH);
    PACE_TRY(image_only(&from->shape[0]));
    if (fmod(in, groups) != 0 || fmod(out, groups) != 0)
        return pace_fail(PACE_E_INPUT, "%g channels to %g do not divide into %g groups", in, out, groups);
    layer->shape.channels = out;
    layer->shape.last = from->shape[0].last;
    PACE_TRY(windows(&layer->shape.height, from->shape[0].height, OPT(layer, KERNEL), OPT(layer, STRIDE),
                     OPT(layer, PAD), OPT(layer, DILATION), false));
    PACE_TRY(windows(&layer->shape.width, from->shape[0].width, OPT(layer, KERNEL_WIDTH), OPT(layer, STRIDE_WIDTH),
                     OPT(layer, PAD_WIDTH), OPT(layer, DILATION), false));
    double weight = out * in / groups * filter;
    if (!(OPT(layer, TIED) > 0)) {
        layer->parameters = weight + (OPT(layer, BIAS) > 0 ? out : 0);
        layer->tensors = OPT(layer, BIAS) > 0 ? 2 : 1;
    }
    each_place(layer, &from->shape[0], weight * layer->shape.height * layer->shape.width);
    return PACE_OK;
}

pace_status pace_infer_transposed_convolution(pace_layer *layer, const pace_layer_inputs *from) {
    const pace_shape *in = &from->shape[0];
    PACE_TRY(image_only(in));
    layer->shape =
        (pace_shape){.channels = OPT(layer, OUT),
                     .height = (in->height - 1) * OPT(layer, STRIDE) - 2 * OPT(layer, PAD) + OPT(layer, KERNEL),
                     .width = (in->width - 1) * OPT(layer, STRIDE_WIDTH) - 2 * OPT(layer, PAD_WIDTH) +
                              OPT(layer, KERNEL_WIDTH)};
    double weight = in->channels * OPT(layer, OUT) * OPT(layer, KERNEL) * OPT(layer, KERNEL_WIDTH);
    layer->parameters = weight + (OPT(layer, BIAS) > 0 ? OPT(layer, OUT) : 0);
    layer->tensors = OPT(layer, BIAS) > 0 ? 2 : 1;
    layer->multiply_adds[0] = weight * in->height * in->width;
    return PACE_OK;
}

pace_status pace_infer_upsample(pace_layer *layer, const pace_layer_inputs *from) {
    PACE_TRY(image_only(&from->shape[0]));
    layer->shape = from->shape[0];
    layer->shape.height *= OPT(layer, STRIDE);
    layer->shape.width *= OPT(layer, STRIDE_WIDTH);
    return PACE_OK;
}

pace_status pace_infer_tokens_of_image(pace_layer *layer, const pace_layer_inputs *from) {
    PACE_TRY(image_only(&from->shape[0]));
    layer->shape = from->shape[0];
    layer->shape.tokens = true;
    return PACE_OK;
}

/* Of the height and width it is told, or those that it had. */
pace_status pace_infer_image_of_tokens(pace_layer *layer, const pace_layer_inputs *from) {
    double places = from->shape[0].height * from->shape[0].width;
    PACE_TRY(tokens_only(&from->shape[0]));
    layer->shape = from->shape[0];
    layer->shape.tokens = false;
    layer->shape.last = OPT(layer, VIEW) > 0;
    if (OPT(layer, KERNEL) < 0) return PACE_OK;
    layer->shape.height = OPT(layer, KERNEL);
    layer->shape.width = OPT(layer, KERNEL_WIDTH);
    if (layer->shape.height * layer->shape.width == places) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%g tokens make no image of %g x %g", places, layer->shape.height,
                     layer->shape.width);
}

/* The first channels, or the first tokens, or others as many. */
pace_status pace_infer_slice(pace_layer *layer, const pace_layer_inputs *from) {
    double channels = from->shape[0].channels, tokens = from->shape[0].height * from->shape[0].width;
    layer->shape = from->shape[0];
    if (OPT(layer, OUT) > 0) layer->shape.channels = OPT(layer, OUT);
    if (OPT(layer, ROWS) > 0) {
        PACE_TRY(tokens_only(&from->shape[0]));
        layer->shape.height = OPT(layer, ROWS);
        layer->shape.width = 1;
    }
    if (layer->shape.channels <= channels && layer->shape.height * layer->shape.width <= tokens) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "a slice of %g channels of %g tokens is more than there is, %g of %g",
                     layer->shape.channels, layer->shape.height * layer->shape.width, channels, tokens);
}

pace_status pace_infer_append(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = (pace_shape){.sharded = from->shape[0].sharded,
                                .channels = from->shape[0].channels,
                                .width = 1,
                                .tokens = true};
    for (size_t i = 0; i < from->count; i++) {
        PACE_TRY(tokens_only(&from->shape[i]));
        if (from->shape[i].channels != layer->shape.channels || from->shape[i].sharded != layer->shape.sharded)
            return pace_fail(PACE_E_INPUT, "branch 1 gives %g channels, branch %zu gives %g", layer->shape.channels,
                             i + 1, from->shape[i].channels);
        layer->shape.height += from->shape[i].height * from->shape[i].width;
    }
    return PACE_OK;
}

pace_status pace_infer_pool(pace_layer *layer, const pace_layer_inputs *from) {
    PACE_TRY(image_only(&from->shape[0]));
    if (OPT(layer, STRIDE) < 0) {
        OPT(layer, STRIDE) = OPT(layer, KERNEL);
        OPT(layer, STRIDE_WIDTH) = OPT(layer, KERNEL_WIDTH);
    }
    bool ceiling = OPT(layer, CEIL) > 0;
    layer->shape = from->shape[0];
    PACE_TRY(windows(&layer->shape.height, from->shape[0].height, OPT(layer, KERNEL), OPT(layer, STRIDE),
                     OPT(layer, PAD), 1, ceiling));
    return windows(&layer->shape.width, from->shape[0].width, OPT(layer, KERNEL_WIDTH), OPT(layer, STRIDE_WIDTH),
                   OPT(layer, PAD_WIDTH), 1, ceiling);
}

pace_status pace_infer_adaptive_pool(pace_layer *layer, const pace_layer_inputs *from) {
    PACE_TRY(image_only(&from->shape[0]));
    layer->shape = from->shape[0];
    layer->shape.height = layer->shape.width = OPT(layer, OUT);
    return PACE_OK;
}

pace_status pace_infer_flatten(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = vector(&from->shape[0], flat(&from->shape[0]));
    return PACE_OK;
}

pace_status pace_infer_select(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    layer->shape.sequence = false;
    return PACE_OK;
}

pace_status pace_infer_linear(pace_layer *layer, const pace_layer_inputs *from) {
    double in = from->shape[0].channels, out = OPT(layer, OUT), bias = OPT(layer, BIAS);
    if (!from->shape[0].tokens && (from->shape[0].height != 1 || from->shape[0].width != 1))
        return pace_fail(PACE_E_INPUT, "expected a vector, found an image of %g x %g: flatten it first",
                         from->shape[0].height, from->shape[0].width);
    if (from->shape[0].sharded != (layer->shard == PACE_SHARD_ROW))
        return pace_fail(PACE_E_INPUT, from->shape[0].sharded
                                           ? "what comes in is split: expected \"shard: row\""
                                           : "what comes in is not split: \"shard: row\" does not fit");
    layer->shape = from->shape[0];
    layer->shape.sharded = layer->shard == PACE_SHARD_COLUMN;
    layer->shape.channels = out;
    bool tied = OPT(layer, TIED) > 0;
    layer->parameters = (tied ? 0 : in * out) + (bias > 0 ? out : 0);
    layer->tensors = (unsigned)(tied ? 0 : 1) + (unsigned)(bias > 0 ? 1 : 0);
    each_place(layer, &from->shape[0], in * out * layer->shape.height * layer->shape.width);
    return PACE_OK;
}

pace_status pace_infer_norm(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    layer->tensors = OPT(layer, BIAS) > 0 ? 2 : 1;
    if (OPT(layer, WIDTH) <= 0) OPT(layer, WIDTH) = from->shape[0].channels;
    if (fmod(from->shape[0].channels, OPT(layer, WIDTH)) != 0)
        return pace_fail(PACE_E_INPUT, "%g channels do not divide into parts of %g", from->shape[0].channels,
                         OPT(layer, WIDTH));
    layer->parameters = layer->tensors * OPT(layer, WIDTH);
    return PACE_OK;
}

pace_status pace_infer_layer_norm(pace_layer *layer, const pace_layer_inputs *from) {
    PACE_TRY(pace_infer_norm(layer, from));
    if (OPT(layer, AFFINE) > 0) return PACE_OK;
    layer->tensors = 0;
    layer->parameters = 0;
    return PACE_OK;
}

/* GROUPS of neighbouring channels have a mean and a variance each. */
pace_status pace_infer_group_norm(pace_layer *layer, const pace_layer_inputs *from) {
    if (fmod(from->shape[0].channels, OPT(layer, GROUPS)) != 0)
        return pace_fail(PACE_E_INPUT, "%g channels do not divide into %g groups", from->shape[0].channels,
                         OPT(layer, GROUPS));
    OPT(layer, WIDTH) = from->shape[0].channels;
    return pace_infer_norm(layer, from);
}

pace_status pace_infer_channel_scale(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    layer->tensors = 1;
    layer->parameters = from->shape[0].channels;
    return PACE_OK;
}

pace_status pace_infer_embedding(pace_layer *layer, const pace_layer_inputs *from) {
    if (!from->shape[0].sequence) return pace_fail(PACE_E_INPUT, "expected a sequence of tokens");
    layer->shape = (pace_shape){.sequence = true, .channels = OPT(layer, WIDTH), .height = 1, .width = 1};
    layer->tensors = OPT(layer, TIED) > 0 ? 0 : 1;
    layer->parameters = layer->tensors * OPT(layer, ROWS) * OPT(layer, WIDTH);
    return PACE_OK;
}

pace_status pace_infer_positions(pace_layer *layer, const pace_layer_inputs *from) {
    if (!from->shape[0].sequence && !from->shape[0].tokens) return pace_fail(PACE_E_INPUT, "expected a sequence");
    layer->shape = from->shape[0];
    layer->tensors = 1;
    layer->parameters = OPT(layer, ROWS) * from->shape[0].channels;
    return PACE_OK;
}

pace_status pace_infer_embedding_bag(pace_layer *layer, const pace_layer_inputs *from) {
    double sum = 0;
    for (double i = 0; i < OPT(layer, TABLES); i++) sum += from->rows[(size_t)i];
    layer->shape = (pace_shape){.channels = OPT(layer, TABLES) * OPT(layer, WIDTH), .height = 1, .width = 1};
    layer->tensors = (unsigned)OPT(layer, TABLES);
    layer->parameters = sum * OPT(layer, WIDTH);
    return PACE_OK;
}

/* Dot products of all pairs of vectors, behind the dense one (Naumov et al. 2019, section 2.1). */
pace_status pace_infer_interaction(pace_layer *layer, const pace_layer_inputs *from) {
    double width = from->shape[0].channels, vectors = 1 + from->shape[1].channels / width;
    if (from->shape[0].sequence || from->shape[1].sequence || vectors != floor(vectors))
        return pace_fail(PACE_E_INPUT, "%g features do not divide into vectors of %g", from->shape[1].channels, width);
    layer->shape = (pace_shape){.channels = width + vectors * (vectors - 1) / 2, .height = 1, .width = 1};
    layer->multiply_adds[0] = vectors * vectors * width;
    return PACE_OK;
}

/* Every query with every key, or within a window of them; how many of a sequence's says pace_layer_span(). */
static pace_status count_attention(pace_layer *layer, const pace_shape *queries, const pace_shape *keys) {
    double window = OPT(layer, WINDOW), count = OPT(layer, HEADS) * (OPT(layer, HEAD_DIM) + OPT(layer, VALUE_DIM));
    double seen = keys->height * keys->width;
    bool itself = queries->sequence && keys->sequence;
    if (OPT(layer, SLIDING) > 0 && (!itself || window > 0))
        return pace_fail(PACE_E_INPUT, "\"sliding\": expected a sequence that attends to itself, without \"window\"");
    if (window > 0 && !itself && (!keys->tokens || !queries->tokens || fmod(seen, window) != 0))
        return pace_fail(PACE_E_INPUT,
                         "\"window\": expected a sequence that attends to itself, or the tokens of an image, in whole "
                         "windows of %g",
                         window);
    if (window > 0 && !itself) seen = window;
    layer->multiply_adds[queries->sequence + keys->sequence] = count * queries->height * queries->width * seen;
    return PACE_OK;
}

/* Query, key and value in one tensor, or in three. The output has the queries' sequence. */
pace_status pace_infer_attention(pace_layer *layer, const pace_layer_inputs *from) {
    double heads = OPT(layer, HEADS);
    if (OPT(layer, KV_HEADS) < 0) OPT(layer, KV_HEADS) = heads;
    double kv_heads = OPT(layer, KV_HEADS), all = from->count == 1 ? heads + 2 * kv_heads : heads;
    if (OPT(layer, HEAD_DIM) < 0) OPT(layer, HEAD_DIM) = from->shape[0].channels / all;
    double dim = OPT(layer, HEAD_DIM);
    if (OPT(layer, VALUE_DIM) < 0) OPT(layer, VALUE_DIM) = dim;
    for (size_t i = 0; i < from->count; i++)
        if (!(from->shape[i].sequence || from->shape[i].tokens) || from->shape[i].sharded != from->shape[0].sharded)
            return pace_fail(PACE_E_INPUT, "expected sequences, all split alike");
    if (from->count == 2 || dim != floor(dim) || dim < 1 || fmod(heads, kv_heads) != 0)
        return pace_fail(PACE_E_INPUT,
                         "%zu inputs of %g channels do not fit %g heads of queries and %g of keys and values",
                         from->count, from->shape[0].channels, heads, kv_heads);
    layer->shape = from->shape[0];
    layer->shape.channels = heads * OPT(layer, VALUE_DIM);
    layer->tensors = OPT(layer, SINKS) > 0 ? 1 : 0;
    layer->parameters = layer->tensors * heads;
    return count_attention(layer, &from->shape[0], &from->shape[from->count - 1]);
}

/* softmax(v . tanh(q + k)) over all pairs, then the mean of the keys (Bahdanau et al. 2015), with a learned scale and
 * shift of v. Inputs: queries, keys (projected), memory. */
pace_status pace_infer_additive_attention(pace_layer *layer, const pace_layer_inputs *from) {
    if (!from->shape[0].sequence || !from->shape[1].sequence || from->shape[0].channels != from->shape[1].channels)
        return pace_fail(PACE_E_INPUT, "expected queries and keys of one width");
    layer->shape = from->shape[2];
    layer->tensors = 3;
    layer->parameters = 2 * from->shape[0].channels + 1;
    layer->multiply_adds[2] = from->shape[0].channels + from->shape[2].channels;
    return PACE_OK;
}

/* Four gates; two biases, as cuDNN has them. */
pace_status pace_infer_lstm(pace_layer *layer, const pace_layer_inputs *from) {
    double hidden = OPT(layer, HIDDEN), directions = OPT(layer, BIDIRECTIONAL) > 0 ? 2 : 1;
    if (!from->shape[0].sequence) return pace_fail(PACE_E_INPUT, "expected a sequence");
    layer->shape = (pace_shape){.sequence = true, .channels = hidden * directions, .height = 1, .width = 1};
    double in = from->shape[0].channels, weights = 0;
    for (double i = 0; i < OPT(layer, LAYERS); i++) {
        weights += directions * 4 * hidden * (in + hidden);
        in = hidden * directions;
    }
    layer->tensors = (unsigned)(4 * directions * OPT(layer, LAYERS));
    layer->parameters = weights + OPT(layer, LAYERS) * directions * 8 * hidden;
    layer->multiply_adds[1] = weights;
    return PACE_OK;
}

/* A router and `experts` feed-forward networks of which each token visits `topk`. */
pace_status pace_infer_experts(pace_layer *layer, const pace_layer_inputs *from) {
    double in = from->shape[0].channels, experts = OPT(layer, EXPERTS), bias = OPT(layer, BIAS) > 0 ? 1 : 0;
    double up = OPT(layer, GATED) > 0 ? 2 * OPT(layer, FFN) : OPT(layer, FFN);
    if (!from->shape[0].sequence || OPT(layer, TOPK) > experts)
        return pace_fail(PACE_E_INPUT, "expected a sequence, and no more experts a token than there are");
    layer->shape = from->shape[0];
    double one = in * up + OPT(layer, FFN) * in;
    layer->tensors = bias > 0 ? 6 : 3;
    layer->parameters = in * experts + experts * one + bias * experts * (1 + up + in);
    layer->multiply_adds[1] = in * experts + OPT(layer, TOPK) * one;
    return PACE_OK;
}

static bool is_as_wide(const pace_shape *a, const pace_shape *b) {
    return a->channels == b->channels && a->sequence == b->sequence && a->sharded == b->sharded;
}

static pace_status fail_branch(const pace_shape *inputs, size_t i) {
    return pace_fail(PACE_E_INPUT, "branch 1 gives %g x %g x %g, branch %zu gives %g x %g x %g", inputs[0].channels,
                     inputs[0].height, inputs[0].width, i + 1, inputs[i].channels, inputs[i].height, inputs[i].width);
}

/* Product or sum of tensors of one shape, or of an image and a number for each of its channels, or of tokens and one
 * number for each. */
pace_status pace_infer_join(pace_layer *layer, const pace_layer_inputs *from) {
    for (size_t i = 1; i < from->count; i++) {
        bool alike = flat(&from->shape[i]) == flat(&from->shape[0]),
             one = from->shape[i].height == 1 && from->shape[i].width == 1;
        bool scores = one && from->shape[i].channels == 1 && from->shape[i].sequence && from->shape[0].sequence;
        if (scores && !from->shape[i].sharded) continue;
        if (!is_as_wide(&from->shape[i], &from->shape[0]) ||
            !((alike && from->shape[i].tokens == from->shape[0].tokens) || one))
            return fail_branch(from->shape, i);
    }
    layer->shape = from->shape[0];
    for (size_t i = 1; i < from->count; i++) layer->shape.last |= from->shape[i].last;
    return PACE_OK;
}

pace_status pace_infer_concat(pace_layer *layer, const pace_layer_inputs *from) {
    layer->shape = from->shape[0];
    for (size_t i = 1; i < from->count; i++) {
        if (from->shape[i].height != from->shape[0].height || from->shape[i].width != from->shape[0].width ||
            from->shape[i].sequence != from->shape[0].sequence || from->shape[i].sharded != from->shape[0].sharded)
            return pace_fail(PACE_E_INPUT, "branch 1 gives %g x %g places, branch %zu gives %g x %g",
                             from->shape[0].height, from->shape[0].width, i + 1, from->shape[i].height,
                             from->shape[i].width);
        layer->shape.channels += from->shape[i].channels;
    }
    return PACE_OK;
}

/* --- parts of parameters ------------------------------------------------------------------------------------------ */

/* All but the router. */
double pace_expert_elements(const pace_layer *layer) {
    return layer->parameters - layer->shape.channels * OPT(layer, EXPERTS);
}

pace_layer_table pace_table_embedding(const pace_model *model, const pace_layer *layer, const pace_config *config,
                                      size_t table) {
    (void)table;
    return (pace_layer_table){OPT(layer, ROWS), OPT(layer, WIDTH), pace_model_sequence(model, config)};
}

pace_layer_table pace_table_embedding_bag(const pace_model *model, const pace_layer *layer, const pace_config *config,
                                          size_t table) {
    (void)config;
    double rows = model->rows.items[(size_t)OPT(layer, ROWS) + table];
    return (pace_layer_table){rows, OPT(layer, WIDTH), OPT(layer, LOOKUPS)};
}
