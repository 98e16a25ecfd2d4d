#include "model/layer.h"

#include <math.h>
#include <string.h>

enum { MAX_OPTIONS = 10, MAX_LAYERS = 100000 };

/* Defaults that follow from something else: */
#define NEEDED NAN
#define SAME_AS_BEFORE (-1.0) /* stride of a pool: its kernel; kv_heads: heads; head_dim: from the input */

typedef pace_status (*infer_fn)(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows);

struct pace_layer_rule {
    const char *word;
    pace_layer_kind kind;
    unsigned least, most; /* inputs */
    infer_fn infer;
    struct {
        pace_layer_option option;
        double value;
    } options[MAX_OPTIONS]; /* the first is the main one */
    unsigned option_count;
};

static const char *const option_names[PACE_OPTIONS] = {
    [PACE_OPTION_OUT] = "out",
    [PACE_OPTION_KERNEL] = "kernel",
    [PACE_OPTION_STRIDE] = "stride",
    [PACE_OPTION_PAD] = "pad",
    [PACE_OPTION_GROUPS] = "groups",
    [PACE_OPTION_DILATION] = "dilation",
    [PACE_OPTION_BIAS] = "bias",
    [PACE_OPTION_TIED] = "tied",
    [PACE_OPTION_CEIL] = "ceil",
    [PACE_OPTION_P] = "p",
    [PACE_OPTION_ROWS] = "rows",
    [PACE_OPTION_WIDTH] = "width",
    [PACE_OPTION_TABLES] = "tables",
    [PACE_OPTION_LOOKUPS] = "lookups",
    [PACE_OPTION_HEADS] = "heads",
    [PACE_OPTION_KV_HEADS] = "kv_heads",
    [PACE_OPTION_CAUSAL] = "causal",
    [PACE_OPTION_HEAD_DIM] = "head_dim",
    [PACE_OPTION_ROTARY] = "rotary",
    [PACE_OPTION_DROPOUT] = "dropout",
    [PACE_OPTION_HIDDEN] = "hidden",
    [PACE_OPTION_LAYERS] = "layers",
    [PACE_OPTION_EXPERTS] = "experts",
    [PACE_OPTION_BIDIRECTIONAL] = "bidirectional",
    [PACE_OPTION_TOPK] = "topk",
    [PACE_OPTION_FFN] = "ffn",
    [PACE_OPTION_GATED] = "gated",
    [PACE_OPTION_KERNEL_WIDTH] = "kernel",
    [PACE_OPTION_VALUE_DIM] = "value_dim",
    [PACE_OPTION_PAD_WIDTH] = "pad",
    [PACE_OPTION_STRIDE_WIDTH] = "stride",
};

#define OPT(layer, name) ((layer)->option[PACE_OPTION_##name])

static double flat(const pace_shape *shape) { return shape->channels * shape->height * shape->width; }

static pace_shape vector(const pace_shape *like, double channels) {
    return (pace_shape){like->sequence, like->sharded, channels, 1, 1};
}

/* Arithmetic of `count` multiply-adds at each place of the tensor. */
static void each_place(pace_layer *layer, const pace_shape *shape, double count) {
    layer->multiply_adds[shape->sequence ? 1 : 0] += count;
}

static pace_status image_only(const pace_shape *shape) {
    if (!shape->sequence) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "expected an image, found a sequence");
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

static pace_status infer_same(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    layer->shape = inputs[0];
    return PACE_OK;
}

static pace_status infer_convolution(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    double in = inputs[0].channels, out = OPT(layer, OUT), groups = OPT(layer, GROUPS);
    double filter = OPT(layer, KERNEL) * OPT(layer, KERNEL_WIDTH);
    PACE_TRY(image_only(&inputs[0]));
    if (fmod(in, groups) != 0 || fmod(out, groups) != 0)
        return pace_fail(PACE_E_INPUT, "%g channels to %g do not divide into %g groups", in, out, groups);
    layer->shape.channels = out;
    PACE_TRY(windows(&layer->shape.height, inputs[0].height, OPT(layer, KERNEL), OPT(layer, STRIDE), OPT(layer, PAD),
                     OPT(layer, DILATION), false));
    PACE_TRY(windows(&layer->shape.width, inputs[0].width, OPT(layer, KERNEL_WIDTH), OPT(layer, STRIDE_WIDTH),
                     OPT(layer, PAD_WIDTH), OPT(layer, DILATION), false));
    double weight = out * in / groups * filter;
    layer->parameters = weight + (OPT(layer, BIAS) > 0 ? out : 0);
    layer->tensors = OPT(layer, BIAS) > 0 ? 2 : 1;
    each_place(layer, &inputs[0], weight * layer->shape.height * layer->shape.width);
    return PACE_OK;
}

static pace_status infer_pool(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    PACE_TRY(image_only(&inputs[0]));
    if (OPT(layer, STRIDE) < 0) {
        OPT(layer, STRIDE) = OPT(layer, KERNEL);
        OPT(layer, STRIDE_WIDTH) = OPT(layer, KERNEL_WIDTH);
    }
    bool ceiling = OPT(layer, CEIL) > 0;
    layer->shape = inputs[0];
    PACE_TRY(windows(&layer->shape.height, inputs[0].height, OPT(layer, KERNEL), OPT(layer, STRIDE), OPT(layer, PAD), 1,
                     ceiling));
    return windows(&layer->shape.width, inputs[0].width, OPT(layer, KERNEL_WIDTH), OPT(layer, STRIDE_WIDTH),
                   OPT(layer, PAD_WIDTH), 1, ceiling);
}

static pace_status infer_adaptive_pool(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    PACE_TRY(image_only(&inputs[0]));
    layer->shape = inputs[0];
    layer->shape.height = layer->shape.width = OPT(layer, OUT);
    return PACE_OK;
}

static pace_status infer_flatten(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    layer->shape = vector(&inputs[0], flat(&inputs[0]));
    return PACE_OK;
}

static pace_status infer_select(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    layer->shape = inputs[0];
    layer->shape.sequence = false;
    return PACE_OK;
}

static pace_status infer_linear(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    double in = inputs[0].channels, out = OPT(layer, OUT), bias = OPT(layer, BIAS);
    if (inputs[0].height != 1 || inputs[0].width != 1)
        return pace_fail(PACE_E_INPUT, "expected a vector, found an image of %g x %g: flatten it first",
                         inputs[0].height, inputs[0].width);
    if (inputs[0].sharded != (layer->shard == PACE_SHARD_ROW))
        return pace_fail(PACE_E_INPUT, inputs[0].sharded ? "what comes in is split: expected \"shard: row\""
                                                         : "what comes in is not split: \"shard: row\" does not fit");
    layer->shape = (pace_shape){inputs[0].sequence, layer->shard == PACE_SHARD_COLUMN, out, 1, 1};
    bool tied = OPT(layer, TIED) > 0;
    layer->parameters = (tied ? 0 : in * out) + (bias > 0 ? out : 0);
    layer->tensors = (unsigned)(tied ? 0 : 1) + (unsigned)(bias > 0 ? 1 : 0);
    each_place(layer, &inputs[0], in * out);
    return PACE_OK;
}

static pace_status infer_norm(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    layer->shape = inputs[0];
    layer->tensors = OPT(layer, BIAS) > 0 ? 2 : 1;
    if (OPT(layer, WIDTH) <= 0) OPT(layer, WIDTH) = inputs[0].channels;
    if (fmod(inputs[0].channels, OPT(layer, WIDTH)) != 0)
        return pace_fail(PACE_E_INPUT, "%g channels do not divide into parts of %g", inputs[0].channels,
                         OPT(layer, WIDTH));
    layer->parameters = layer->tensors * OPT(layer, WIDTH);
    return PACE_OK;
}

static pace_status infer_embedding(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    if (!inputs[0].sequence) return pace_fail(PACE_E_INPUT, "expected a sequence of tokens");
    layer->shape = (pace_shape){true, false, OPT(layer, WIDTH), 1, 1};
    layer->tensors = OPT(layer, TIED) > 0 ? 0 : 1;
    layer->parameters = layer->tensors * OPT(layer, ROWS) * OPT(layer, WIDTH);
    return PACE_OK;
}

static pace_status infer_positions(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    if (!inputs[0].sequence) return pace_fail(PACE_E_INPUT, "expected a sequence");
    layer->shape = inputs[0];
    layer->tensors = 1;
    layer->parameters = OPT(layer, ROWS) * inputs[0].channels;
    return PACE_OK;
}

static pace_status infer_embedding_bag(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count;
    (void)inputs;
    double sum = 0;
    for (double i = 0; i < OPT(layer, TABLES); i++) sum += rows[(size_t)i];
    layer->shape = (pace_shape){.channels = OPT(layer, TABLES) * OPT(layer, WIDTH), .height = 1, .width = 1};
    layer->tensors = (unsigned)OPT(layer, TABLES);
    layer->parameters = sum * OPT(layer, WIDTH);
    return PACE_OK;
}

/* Dot products of all pairs of vectors, behind the dense one (Naumov et al. 2019, section 2.1). */
static pace_status infer_interaction(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    double width = inputs[0].channels, vectors = 1 + inputs[1].channels / width;
    if (inputs[0].sequence || inputs[1].sequence || vectors != floor(vectors))
        return pace_fail(PACE_E_INPUT, "%g features do not divide into vectors of %g", inputs[1].channels, width);
    layer->shape = (pace_shape){.channels = width + vectors * (vectors - 1) / 2, .height = 1, .width = 1};
    layer->multiply_adds[0] = vectors * vectors * width;
    return PACE_OK;
}

/* Query, key and value in one tensor, or in three. The output has the queries' sequence. */
static pace_status infer_attention(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)rows;
    double heads = OPT(layer, HEADS);
    if (OPT(layer, KV_HEADS) < 0) OPT(layer, KV_HEADS) = heads;
    double kv_heads = OPT(layer, KV_HEADS), all = count == 1 ? heads + 2 * kv_heads : heads;
    if (OPT(layer, HEAD_DIM) < 0) OPT(layer, HEAD_DIM) = inputs[0].channels / all;
    double dim = OPT(layer, HEAD_DIM);
    if (OPT(layer, VALUE_DIM) < 0) OPT(layer, VALUE_DIM) = dim;
    for (size_t i = 0; i < count; i++)
        if (!inputs[i].sequence || inputs[i].sharded != inputs[0].sharded)
            return pace_fail(PACE_E_INPUT, "expected sequences, all split alike");
    if (count == 2 || dim != floor(dim) || dim < 1 || fmod(heads, kv_heads) != 0)
        return pace_fail(PACE_E_INPUT,
                         "%zu inputs of %g channels do not fit %g heads of queries and %g of keys and values", count,
                         inputs[0].channels, heads, kv_heads);
    layer->shape = (pace_shape){true, inputs[0].sharded, heads * OPT(layer, VALUE_DIM), 1, 1};
    layer->multiply_adds[2] = heads * (dim + OPT(layer, VALUE_DIM));
    return PACE_OK;
}

/* softmax(v . tanh(q + k)) over all pairs, then the mean of the keys (Bahdanau et al. 2015), with a learned scale and
 * shift of v. Inputs: queries, keys (projected), memory. */
static pace_status infer_additive_attention(pace_layer *layer, const pace_shape *inputs, size_t count,
                                            const double *rows) {
    (void)count, (void)rows;
    if (!inputs[0].sequence || !inputs[1].sequence || inputs[0].channels != inputs[1].channels)
        return pace_fail(PACE_E_INPUT, "expected queries and keys of one width");
    layer->shape = inputs[2];
    layer->tensors = 3;
    layer->parameters = 2 * inputs[0].channels + 1;
    layer->multiply_adds[2] = inputs[0].channels + inputs[2].channels;
    return PACE_OK;
}

/* Four gates; two biases, as cuDNN has them. */
static pace_status infer_lstm(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    double hidden = OPT(layer, HIDDEN), directions = OPT(layer, BIDIRECTIONAL) > 0 ? 2 : 1;
    if (!inputs[0].sequence) return pace_fail(PACE_E_INPUT, "expected a sequence");
    layer->shape = (pace_shape){true, false, hidden * directions, 1, 1};
    double in = inputs[0].channels, weights = 0;
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
static pace_status infer_experts(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)count, (void)rows;
    double in = inputs[0].channels, experts = OPT(layer, EXPERTS), bias = OPT(layer, BIAS) > 0 ? 1 : 0;
    double up = OPT(layer, GATED) > 0 ? 2 * OPT(layer, FFN) : OPT(layer, FFN);
    if (!inputs[0].sequence || OPT(layer, TOPK) > experts)
        return pace_fail(PACE_E_INPUT, "expected a sequence, and no more experts a token than there are");
    layer->shape = inputs[0];
    double one = in * up + OPT(layer, FFN) * in;
    layer->tensors = bias > 0 ? 6 : 3;
    layer->parameters = in * experts + experts * one + bias * experts * (1 + up + in);
    layer->multiply_adds[1] = in * experts + OPT(layer, TOPK) * one;
    return PACE_OK;
}

/* Sum or product of tensors of one shape. */
static pace_status infer_join(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)rows;
    for (size_t i = 1; i < count; i++)
        if (flat(&inputs[i]) != flat(&inputs[0]) || inputs[i].sequence != inputs[0].sequence ||
            inputs[i].sharded != inputs[0].sharded || inputs[i].channels != inputs[0].channels)
            return pace_fail(PACE_E_INPUT, "branch 1 gives %g x %g x %g, branch %zu gives %g x %g x %g",
                             inputs[0].channels, inputs[0].height, inputs[0].width, i + 1, inputs[i].channels,
                             inputs[i].height, inputs[i].width);
    layer->shape = inputs[0];
    return PACE_OK;
}

static pace_status infer_concat(pace_layer *layer, const pace_shape *inputs, size_t count, const double *rows) {
    (void)rows;
    layer->shape = inputs[0];
    for (size_t i = 1; i < count; i++) {
        if (inputs[i].height != inputs[0].height || inputs[i].width != inputs[0].width ||
            inputs[i].sequence != inputs[0].sequence || inputs[i].sharded != inputs[0].sharded)
            return pace_fail(PACE_E_INPUT, "branch 1 gives %g x %g places, branch %zu gives %g x %g", inputs[0].height,
                             inputs[0].width, i + 1, inputs[i].height, inputs[i].width);
        layer->shape.channels += inputs[i].channels;
    }
    return PACE_OK;
}

/* clang-format off */
#define CONV_WINDOW {PACE_OPTION_STRIDE, 1}, {PACE_OPTION_PAD, 0}
#define POOL {PACE_OPTION_KERNEL, NEEDED}, {PACE_OPTION_STRIDE, SAME_AS_BEFORE}, {PACE_OPTION_PAD, 0}, {PACE_OPTION_CEIL, 0}
#define SAME(word) {word, PACE_LAYER_ACTIVATION, 1, 1, infer_same, {{0, 0}}, 0}
#define JOIN(word, kind, infer) {word, kind, 1, PACE_LAYER_INPUTS, infer, {{0, 0}}, 0}

static const pace_layer_rule rules[] = {
    {"conv", PACE_LAYER_CONVOLUTION, 1, 1, infer_convolution,
     {{PACE_OPTION_OUT, NEEDED}, {PACE_OPTION_KERNEL, 1}, CONV_WINDOW, {PACE_OPTION_GROUPS, 1},
      {PACE_OPTION_DILATION, 1}, {PACE_OPTION_BIAS, 1}}, 7},
    {"linear", PACE_LAYER_LINEAR, 1, 1, infer_linear,
     {{PACE_OPTION_OUT, NEEDED}, {PACE_OPTION_BIAS, 1}, {PACE_OPTION_TIED, 0}}, 3},
    {"batch_norm", PACE_LAYER_BATCH_NORM, 1, 1, infer_norm, {{PACE_OPTION_BIAS, 1}}, 1},
    {"layer_norm", PACE_LAYER_LAYER_NORM, 1, 1, infer_norm,
     {{PACE_OPTION_WIDTH, SAME_AS_BEFORE}, {PACE_OPTION_BIAS, 1}}, 2},
    {"rms_norm", PACE_LAYER_RMS_NORM, 1, 1, infer_norm,
     {{PACE_OPTION_WIDTH, SAME_AS_BEFORE}, {PACE_OPTION_BIAS, 0}}, 2},
    SAME("relu"), SAME("relu6"), SAME("gelu"), SAME("silu"), SAME("tanh"), SAME("sigmoid"), SAME("squared_relu"),
    {"lrn", PACE_LAYER_LOCAL_NORM, 1, 1, infer_same, {{PACE_OPTION_KERNEL, 5}}, 1},
    {"dropout", PACE_LAYER_DROPOUT, 1, 1, infer_same, {{PACE_OPTION_P, 0.5}}, 1},
    {"max_pool", PACE_LAYER_MAX_POOL, 1, 1, infer_pool, {POOL}, 4},
    {"avg_pool", PACE_LAYER_AVERAGE_POOL, 1, 1, infer_pool, {POOL}, 4},
    {"adaptive_pool", PACE_LAYER_ADAPTIVE_POOL, 1, 1, infer_adaptive_pool, {{PACE_OPTION_OUT, 1}}, 1},
    {"flatten", PACE_LAYER_FLATTEN, 1, 1, infer_flatten, {{0, 0}}, 0},
    {"select", PACE_LAYER_SELECT, 1, 1, infer_select, {{0, 0}}, 0},
    {"embedding", PACE_LAYER_EMBEDDING, 1, 1, infer_embedding,
     {{PACE_OPTION_ROWS, NEEDED}, {PACE_OPTION_WIDTH, NEEDED}, {PACE_OPTION_TIED, 0}}, 3},
    {"positions", PACE_LAYER_POSITIONS, 1, 1, infer_positions, {{PACE_OPTION_ROWS, NEEDED}}, 1},
    {"embedding_bag", PACE_LAYER_EMBEDDING_BAG, 1, 1, infer_embedding_bag,
     {{PACE_OPTION_ROWS, NEEDED}, {PACE_OPTION_WIDTH, NEEDED}, {PACE_OPTION_TABLES, SAME_AS_BEFORE},
      {PACE_OPTION_LOOKUPS, 1}}, 4},
    {"interaction", PACE_LAYER_INTERACTION, 2, 2, infer_interaction, {{0, 0}}, 0},
    {"attention", PACE_LAYER_ATTENTION, 1, 3, infer_attention,
     {{PACE_OPTION_HEADS, NEEDED}, {PACE_OPTION_KV_HEADS, SAME_AS_BEFORE}, {PACE_OPTION_HEAD_DIM, SAME_AS_BEFORE},
      {PACE_OPTION_VALUE_DIM, SAME_AS_BEFORE}, {PACE_OPTION_CAUSAL, 0}, {PACE_OPTION_ROTARY, 0}, {PACE_OPTION_DROPOUT, 0}}, 7},
    {"additive_attention", PACE_LAYER_ADDITIVE_ATTENTION, 3, 3, infer_additive_attention, {{0, 0}}, 0},
    {"lstm", PACE_LAYER_LSTM, 1, 1, infer_lstm,
     {{PACE_OPTION_HIDDEN, NEEDED}, {PACE_OPTION_LAYERS, 1}, {PACE_OPTION_BIDIRECTIONAL, 0}}, 3},
    {"experts", PACE_LAYER_EXPERTS, 1, 1, infer_experts,
     {{PACE_OPTION_EXPERTS, NEEDED}, {PACE_OPTION_TOPK, NEEDED}, {PACE_OPTION_FFN, NEEDED}, {PACE_OPTION_GATED, 1},
      {PACE_OPTION_BIAS, 0}}, 5},
    JOIN("add", PACE_LAYER_ADD, infer_join), JOIN("multiply", PACE_LAYER_MULTIPLY, infer_join),
    JOIN("concat", PACE_LAYER_CONCAT, infer_concat),
    {"cross_entropy", PACE_LAYER_LOSS, 1, 1, infer_same, {{0, 0}}, 0},
    {"mse", PACE_LAYER_LOSS, 1, 1, infer_same, {{0, 0}}, 0},
    {"binary_cross_entropy", PACE_LAYER_LOSS, 1, 1, infer_same, {{0, 0}}, 0},
};
/* clang-format on */

const pace_layer_rule *pace_layer_rule_find(const char *word) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].word, word) == 0) return &rules[i];
    return NULL;
}

pace_layer_option pace_layer_rule_option(const pace_layer_rule *rule, const char *key) {
    for (unsigned i = 0; i < rule->option_count; i++)
        if (strcmp(option_names[rule->options[i].option], key) == 0) return rule->options[i].option;
    return PACE_OPTIONS;
}

pace_layer_option pace_layer_rule_main(const pace_layer_rule *rule) {
    return rule->option_count ? rule->options[0].option : PACE_OPTIONS;
}

bool pace_layer_option_is_pair(pace_layer_option option) {
    return option == PACE_OPTION_KERNEL || option == PACE_OPTION_STRIDE || option == PACE_OPTION_PAD;
}

bool pace_layer_option_is_list(pace_layer_option option) { return option == PACE_OPTION_ROWS; }

bool pace_layer_rule_takes_shard(const pace_layer_rule *rule) { return rule->kind == PACE_LAYER_LINEAR; }

pace_layer pace_layer_make(const pace_layer_rule *rule) {
    pace_layer layer = {.kind = (uint8_t)rule->kind, .word = rule->word, .shape = {.height = 1, .width = 1}};
    for (unsigned i = 0; i < rule->option_count; i++) {
        layer.option[rule->options[i].option] = rule->options[i].value;
        if (pace_layer_option_is_pair(rule->options[i].option))
            layer.option[rule->options[i].option + 1] = rule->options[i].value;
    }
    return layer;
}

/* Sizes are whole; what may be 0 is said here. */
static pace_status check_option(const pace_layer *layer, pace_layer_option option) {
    static const double most = 4294967296.0;
    double value = layer->option[option];
    bool may_be_zero = option == PACE_OPTION_PAD || option == PACE_OPTION_PAD_WIDTH || option == PACE_OPTION_BIAS ||
                       option == PACE_OPTION_TIED || option == PACE_OPTION_CEIL || option == PACE_OPTION_CAUSAL ||
                       option == PACE_OPTION_ROTARY || option == PACE_OPTION_BIDIRECTIONAL ||
                       option == PACE_OPTION_GATED;
    if (value == SAME_AS_BEFORE) return PACE_OK;
    if (isnan(value)) return pace_fail(PACE_E_INPUT, "\"%s\" needs \"%s\"", layer->word, option_names[option]);
    if (option == PACE_OPTION_P || option == PACE_OPTION_DROPOUT) {
        if (value >= 0 && value < 1) return PACE_OK;
        return pace_fail(PACE_E_INPUT, "\"%s\": expected a probability below 1, found %g", option_names[option], value);
    }
    if (option == PACE_OPTION_PAD || option == PACE_OPTION_PAD_WIDTH) value *= 2; /* one side more than the other */
    if (value < (may_be_zero ? 0 : 1) || value > most || value != floor(value))
        return pace_fail(PACE_E_INPUT, "\"%s\": expected a whole number of at least %d, found %g", option_names[option],
                         may_be_zero ? 0 : 1, value);
    return PACE_OK;
}

static bool is_sane(const pace_shape *shape) {
    return flat(shape) >= 1 && flat(shape) < 1e15 && shape->channels >= 1 && shape->height >= 1 && shape->width >= 1;
}

/* Derives the shape, parameters and multiply-adds. `rows` are the embedding bag's tables. PACE_E_INPUT says what does
 * not fit, without the place. */
static pace_status layer_infer(pace_layer *layer, const pace_layer_rule *rule, const pace_shape *inputs, size_t count,
                               const double *rows) {
    if (count < rule->least || count > rule->most)
        return pace_fail(PACE_E_INPUT, "\"%s\": expected %u to %u inputs, found %zu", rule->word, rule->least,
                         rule->most, count);
    for (unsigned i = 0; i < rule->option_count; i++) {
        pace_layer_option option = rule->options[i].option;
        if (!pace_layer_option_is_list(option) || rule->kind != PACE_LAYER_EMBEDDING_BAG)
            PACE_TRY(check_option(layer, option));
        if (pace_layer_option_is_pair(option)) PACE_TRY(check_option(layer, option + 1));
    }
    if (layer->option[PACE_OPTION_LAYERS] > 1000 || layer->option[PACE_OPTION_TABLES] > 100000)
        return pace_fail(PACE_E_LIMIT, "\"%s\": too many layers or tables", rule->word);
    PACE_TRY(rule->infer(layer, inputs, count, rows));
    if (!is_sane(&layer->shape)) return pace_fail(PACE_E_INPUT, "\"%s\": its output is out of range", rule->word);
    return PACE_OK;
}

pace_status pace_model_append(pace_model *model, pace_layer layer, const pace_layer_rule *rule, const char *name,
                              const uint32_t *inputs, size_t count, const double *rows) {
    pace_shape shapes[PACE_LAYER_INPUTS];
    if (model->layers.count >= MAX_LAYERS) return pace_fail(PACE_E_LIMIT, "more than %d layers", MAX_LAYERS);
    if (count > PACE_LAYER_INPUTS) return pace_fail(PACE_E_LIMIT, "more than %d inputs", PACE_LAYER_INPUTS);
    for (size_t i = 0; i < count; i++) shapes[i] = model->layers.items[inputs[i]].shape;
    if (rule) PACE_TRY(layer_infer(&layer, rule, shapes, count, rows));
    layer.first_input = (uint32_t)model->inputs.count;
    layer.input_count = (uint32_t)count;
    PACE_TRY(pace_names_add(&layer.name, &model->names, name, strlen(name)));
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&model->inputs, inputs[i]));
    return PACE_PUSH(&model->layers, layer);
}
