#include "model/model.h"

#include <math.h>

void pace_model_free(pace_model *model) {
    pace_names_free(&model->names);
    PACE_VEC_FREE(&model->layers);
    PACE_VEC_FREE(&model->inputs);
    PACE_VEC_FREE(&model->rows);
    *model = (pace_model){0};
}

double pace_model_sequence(const pace_model *model, const pace_config *config) {
    return config->sequence > 0 ? config->sequence : model->sequence;
}

double pace_shape_elements(const pace_shape *shape, double sequence, double tp) {
    double elements = shape->channels * shape->height * shape->width;
    return (shape->sequence ? elements * sequence : elements) / (shape->sharded ? tp : 1);
}

/* Which operators torch.autocast runs in half and which in single precision: PyTorch's "Autocast op reference". */
int pace_layer_element_bytes(const pace_layer *layer, const pace_config *config, int input_bytes) {
    int held = pace_config_parameter_bytes(config);
    bool amp = pace_config_is_amp(config);
    switch (layer->kind) {
    case PACE_LAYER_INPUT: return layer->word[0] == 't' || layer->word[1] == 'n' ? 8 : held; /* tokens, indices */
    case PACE_LAYER_EMBEDDING:
    case PACE_LAYER_EMBEDDING_BAG: return held;
    case PACE_LAYER_CONVOLUTION:
    case PACE_LAYER_LINEAR:
    case PACE_LAYER_ATTENTION:
    case PACE_LAYER_LSTM:
    case PACE_LAYER_EXPERTS: return amp ? 2 : held;
    case PACE_LAYER_LAYER_NORM:
    case PACE_LAYER_RMS_NORM:
    case PACE_LAYER_ADDITIVE_ATTENTION:
    case PACE_LAYER_LOSS: return amp ? 4 : held;
    default: return input_bytes > 0 ? input_bytes : held;
    }
}

/* What PyTorch's derivatives.yaml saves for each. */
static bool layer_keeps_input(const pace_layer *layer) {
    switch (layer->kind) {
    case PACE_LAYER_CONVOLUTION:
    case PACE_LAYER_LINEAR:
    case PACE_LAYER_BATCH_NORM:
    case PACE_LAYER_LAYER_NORM:
    case PACE_LAYER_RMS_NORM:
    case PACE_LAYER_LOCAL_NORM:
    case PACE_LAYER_MAX_POOL:
    case PACE_LAYER_AVERAGE_POOL:
    case PACE_LAYER_EMBEDDING:
    case PACE_LAYER_EMBEDDING_BAG:
    case PACE_LAYER_ATTENTION:
    case PACE_LAYER_ADDITIVE_ATTENTION:
    case PACE_LAYER_LSTM:
    case PACE_LAYER_EXPERTS:
    case PACE_LAYER_MULTIPLY: return true;
    case PACE_LAYER_LOSS:
        return layer->word[0] == 'c'; /* who called for the loss holds the scores beside their softmax */
    case PACE_LAYER_ACTIVATION: return layer->word[0] == 'g' || layer->word[1] == 'i' || layer->word[1] == 'q';
    default: return false; /* activations above: gelu; silu, sigmoid (see below); squared_relu */
    }
}

static bool layer_keeps_output(const pace_layer *layer) {
    if (layer->kind != PACE_LAYER_ACTIVATION) return false;
    return layer->word[0] == 'r' || layer->word[0] == 't' || layer->word[2] == 'g'; /* relu, tanh, sigmoid */
}

/* Elements of a sample's tensor on one rank: context parallelism splits the sequence, sequence parallelism what tensor
 * parallelism leaves whole. */
static double elements_on_rank(const pace_shape *shape, const pace_config *config, double sequence) {
    bool split = shape->sharded || (shape->sequence && config->sequence_parallel > 0);
    return pace_shape_elements(shape, sequence / config->cp, 1) / (split ? config->tp : 1);
}

static double attention_extra_bytes(const pace_layer *layer, const pace_config *config, double sequence,
                                    int element_bytes) {
    double heads = layer->option[PACE_OPTION_HEADS] / (layer->shape.sharded ? config->tp : 1);
    if (config->attention == PACE_ATTENTION_FUSED) return heads * sequence / config->cp * 4; /* a scale per row */
    double scores = heads * sequence / config->cp * sequence; /* after softmax; after dropout, and its mask */
    return scores * (layer->option[PACE_OPTION_DROPOUT] > 0 ? 2 * element_bytes + 1 : element_bytes);
}

static double layer_kept_extra_bytes(const pace_model *model, const pace_layer *layer, const pace_config *config,
                                     int element_bytes) {
    double sequence = pace_model_sequence(model, config);
    double elements = elements_on_rank(&layer->shape, config, sequence);
    const double *option = layer->option;
    double up = option[PACE_OPTION_GATED] > 0 ? 2 : 1;
    switch (layer->kind) {
    case PACE_LAYER_DROPOUT: return elements;                        /* the mask */
    case PACE_LAYER_LOCAL_NORM: return 2 * element_bytes * elements; /* the sums of squares, and their power */
    case PACE_LAYER_MAX_POOL: return 8 * elements;                   /* where each maximum was */
    case PACE_LAYER_LOSS: return layer->word[0] == 'c' ? 4 * elements : 0;
    case PACE_LAYER_ATTENTION: return attention_extra_bytes(layer, config, sequence, element_bytes);
    case PACE_LAYER_ADDITIVE_ATTENTION:
        return element_bytes * sequence * sequence * (pace_layer_input(model, layer, 0)->shape.channels + 1);
    case PACE_LAYER_LSTM: /* four gates, the cell and its tanh */
        return 6 * element_bytes * elements * option[PACE_OPTION_LAYERS];
    case PACE_LAYER_EXPERTS:
        return element_bytes * sequence / config->cp * option[PACE_OPTION_TOPK] *
               (2 * layer->shape.channels + (up + 1) * option[PACE_OPTION_FFN] / config->tp);
    case PACE_LAYER_INTERACTION: {
        double vectors =
            1 + pace_layer_input(model, layer, 1)->shape.channels / pace_layer_input(model, layer, 0)->shape.channels;
        return element_bytes * vectors * pace_layer_input(model, layer, 0)->shape.channels;
    }
    default: return 0;
    }
}

/* A view shares its input's memory. */
static uint32_t storage_of(const pace_model *model, uint32_t layer) {
    while (model->layers.items[layer].kind == PACE_LAYER_FLATTEN)
        layer = model->inputs.items[model->layers.items[layer].first_input];
    return layer;
}

static int widest_input(const pace_model *model, const pace_layer *layer, const int *bytes) {
    int widest = 0;
    for (uint32_t i = 0; i < layer->input_count; i++) {
        int here = bytes[model->inputs.items[layer->first_input + i]];
        if (here > widest) widest = here;
    }
    return widest;
}

/* Full recomputation keeps what comes into a segment; selective, all but what attention has between its inputs and its
 * output (Korthikanti et al. 2022, section 5). */
static bool keeps_own(const pace_layer *layer, const pace_config *config) {
    if (config->recompute == PACE_RECOMPUTE_FULL) return layer->segment == 0;
    return config->recompute == PACE_RECOMPUTE_NONE || layer->kind != PACE_LAYER_ATTENTION;
}

/* Attention in one kernel needs its output again; so does the product behind it, and holds the same tensor. */
static bool keeps_output(const pace_layer *layer, const pace_config *config) {
    bool fused = layer->kind == PACE_LAYER_ATTENTION && config->attention == PACE_ATTENTION_FUSED;
    return fused || layer_keeps_output(layer);
}

/* Fused, a product of branches is formed with the activation before it, which backward forms anew. */
static bool is_fused_away(const pace_layer *layer, const pace_layer *input, const pace_config *config) {
    return config->execution != PACE_EAGER && layer->kind == PACE_LAYER_MULTIPLY &&
           input->kind == PACE_LAYER_ACTIVATION;
}

static bool keeps_input_of(const pace_model *model, const pace_layer *layer, uint32_t from, const pace_config *config) {
    if (is_fused_away(layer, &model->layers.items[from], config)) return false;
    if (config->recompute == PACE_RECOMPUTE_FULL && layer->segment > 0)
        return model->layers.items[from].segment != layer->segment;
    return layer_keeps_input(layer);
}

double pace_model_kept_bytes(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last) {
    size_t count = model->layers.count;
    int *bytes = pace_alloc(count + 1, sizeof *bytes);
    bool *kept = pace_alloc(count + 1, sizeof *kept);
    double sum = 0, sequence = pace_model_sequence(model, config);
    for (uint32_t i = 0; bytes && kept && i < count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        bool own = keeps_own(layer, config);
        bytes[i] = pace_layer_element_bytes(layer, config, widest_input(model, layer, bytes));
        if (own && i >= first && i <= last) sum += layer_kept_extra_bytes(model, layer, config, bytes[i]);
        if (own && keeps_output(layer, config)) kept[i] = true;
        for (uint32_t k = 0; k < layer->input_count; k++) {
            uint32_t from = model->inputs.items[layer->first_input + k];
            if (keeps_input_of(model, layer, from, config)) kept[storage_of(model, from)] = true;
        }
    }
    for (uint32_t i = first; bytes && kept && i <= last && i < count; i++)
        if (kept[i]) sum += bytes[i] * elements_on_rank(&model->layers.items[i].shape, config, sequence);
    pace_free(bytes);
    pace_free(kept);
    return sum;
}

pace_model_totals pace_model_total(const pace_model *model, const pace_config *config) {
    static const double states[] = {
        [PACE_SGD] = 0, [PACE_MOMENTUM] = 1, [PACE_ADAM] = 2, [PACE_ADAMW] = 2, [PACE_NO_UPDATE] = 0};
    pace_model_totals total = {0};
    double sequence = pace_model_sequence(model, config), held = pace_config_parameter_bytes(config);
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        total.parameters += layer->parameters;
        total.tensors += layer->tensors;
        if (layer->training_only) continue;
        total.multiply_adds +=
            layer->multiply_adds[0] + sequence * (layer->multiply_adds[1] + sequence * layer->multiply_adds[2]);
    }
    total.activation_bytes = pace_model_kept_bytes(model, config, 0, UINT32_MAX);
    total.weight_bytes = total.gradient_bytes = total.parameters * held;
    total.optimizer_bytes = total.parameters * held * states[config->optimizer];
    return total;
}

pace_status pace_model_check_parallel(const pace_model *model, const pace_config *config) {
    const char *name = pace_names_text(&model->names, model->name);
    double experts = 0;
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        if (layer->kind == PACE_LAYER_EXPERTS) experts = layer->option[PACE_OPTION_EXPERTS];
        if (layer->kind == PACE_LAYER_EMBEDDING_BAG) experts = config->ep; /* tables are cut wherever it fits */
        if (layer->kind == PACE_LAYER_ATTENTION && fmod(layer->option[PACE_OPTION_HEADS], config->tp) != 0)
            return pace_fail(PACE_E_USAGE, "tp %g does not divide the %g heads of \"%s\"", config->tp,
                             layer->option[PACE_OPTION_HEADS], name);
    }
    if (config->cp > 1 && !(model->sequence > 0))
        return pace_fail(PACE_E_USAGE, "cp %g: the model \"%s\" has no sequence to split", config->cp, name);
    if (config->ep > 1 && (experts == 0 || fmod(experts, config->ep) != 0))
        return pace_fail(PACE_E_USAGE, "ep %g does not divide the %g experts of \"%s\"", config->ep, experts, name);
    return PACE_OK;
}
