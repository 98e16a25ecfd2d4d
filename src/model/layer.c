#include "model/layer.h"

#include <math.h>
#include <string.h>

enum { MAX_LAYERS = 100000 };

static const char *const option_names[PACE_OPTIONS] = {
    [PACE_OPTION_OUT] = "out",
    [PACE_OPTION_KERNEL] = "kernel",
    [PACE_OPTION_STRIDE] = "stride",
    [PACE_OPTION_PAD] = "pad",
    [PACE_OPTION_GROUPS] = "groups",
    [PACE_OPTION_DILATION] = "dilation",
    [PACE_OPTION_BIAS] = "bias",
    [PACE_OPTION_TIED] = "tied",
    [PACE_OPTION_AFFINE] = "affine",
    [PACE_OPTION_CEIL] = "ceil",
    [PACE_OPTION_VIEW] = "view",
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
    [PACE_OPTION_WINDOW] = "window",
    [PACE_OPTION_SLIDING] = "sliding",
    [PACE_OPTION_SINKS] = "sinks",
    [PACE_OPTION_HIDDEN] = "hidden",
    [PACE_OPTION_LAYERS] = "layers",
    [PACE_OPTION_EXPERTS] = "experts",
    [PACE_OPTION_BIDIRECTIONAL] = "bidirectional",
    [PACE_OPTION_TOPK] = "topk",
    [PACE_OPTION_NODES] = "nodes",
    [PACE_OPTION_FFN] = "ffn",
    [PACE_OPTION_GATED] = "gated",
    [PACE_OPTION_KERNEL_WIDTH] = "kernel",
    [PACE_OPTION_VALUE_DIM] = "value_dim",
    [PACE_OPTION_PAD_WIDTH] = "pad",
    [PACE_OPTION_STRIDE_WIDTH] = "stride",
};

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

bool pace_layer_rule_lists(const pace_layer_rule *rule, pace_layer_option option) {
    return rule->lists_rows && option == PACE_OPTION_ROWS;
}

pace_layer pace_layer_make(const pace_layer_rule *rule) {
    pace_layer layer = {.rule = rule,
                        .kind = (uint8_t)rule->kind,
                        .word = rule->word,
                        .shape = {.height = 1, .width = 1}};
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
                       option == PACE_OPTION_TIED || option == PACE_OPTION_AFFINE || option == PACE_OPTION_CEIL ||
                       option == PACE_OPTION_VIEW || option == PACE_OPTION_CAUSAL || option == PACE_OPTION_ROTARY ||
                       option == PACE_OPTION_BIDIRECTIONAL || option == PACE_OPTION_GATED ||
                       option == PACE_OPTION_NODES || option == PACE_OPTION_WINDOW || option == PACE_OPTION_SLIDING ||
                       option == PACE_OPTION_SINKS;
    if (value == PACE_SAME_AS_BEFORE) return PACE_OK;
    if (isnan(value)) return pace_fail(PACE_E_INPUT, "\"%s\" needs \"%s\"", layer->word, option_names[option]);
    if (option == PACE_OPTION_ROTARY && value >= 0 && value <= 1) return PACE_OK;
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
    return pace_shape_elements(shape, 1) >= 1 && pace_shape_elements(shape, 1) < 1e15 && shape->channels >= 1 &&
           shape->height >= 1 && shape->width >= 1;
}

/* Derives the shape, parameters and multiply-adds. PACE_E_INPUT says what does not fit, without the place. */
static pace_status layer_infer(pace_layer *layer, const pace_layer_rule *rule, const pace_layer_inputs *in) {
    if (in->count < rule->least || in->count > rule->most)
        return pace_fail(PACE_E_INPUT, "\"%s\": expected %u to %u inputs, found %zu", rule->word, rule->least,
                         rule->most, in->count);
    for (unsigned i = 0; i < rule->option_count; i++) {
        pace_layer_option option = rule->options[i].option;
        if (!pace_layer_rule_lists(rule, option)) PACE_TRY(check_option(layer, option));
        if (pace_layer_option_is_pair(option)) PACE_TRY(check_option(layer, option + 1));
    }
    if (layer->option[PACE_OPTION_LAYERS] > 1000 || layer->option[PACE_OPTION_TABLES] > 100000)
        return pace_fail(PACE_E_LIMIT, "\"%s\": too many layers or tables", rule->word);
    PACE_TRY(rule->infer(layer, in));
    if (!is_sane(&layer->shape)) return pace_fail(PACE_E_INPUT, "\"%s\": its output is out of range", rule->word);
    return PACE_OK;
}

/* A layer without a rule is an input, whose shape is given. */
static const pace_layer_rule input = {.word = "input", .kind = PACE_LAYER_INPUT};

pace_status pace_model_append(pace_model *model, pace_layer layer, const pace_layer_rule *rule, const char *name,
                              const uint32_t *inputs, size_t count, const double *rows) {
    pace_shape shapes[PACE_LAYER_INPUTS];
    if (model->layers.count >= MAX_LAYERS) return pace_fail(PACE_E_LIMIT, "more than %d layers", MAX_LAYERS);
    if (count > PACE_LAYER_INPUTS) return pace_fail(PACE_E_LIMIT, "more than %d inputs", PACE_LAYER_INPUTS);
    for (size_t i = 0; i < count; i++) shapes[i] = model->layers.items[inputs[i]].shape;
    layer.rule = rule ? rule : &input;
    if (rule) PACE_TRY(layer_infer(&layer, rule, &(pace_layer_inputs){shapes, count, rows}));
    layer.first_input = (uint32_t)model->inputs.count;
    layer.input_count = (uint32_t)count;
    PACE_TRY(pace_names_add(&layer.name, &model->names, name, strlen(name)));
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&model->inputs, inputs[i]));
    return PACE_PUSH(&model->layers, layer);
}
