#include "model/model.h"
#include "model/recorded.h"

#include <math.h>

void pace_model_free(pace_model *model) {
    pace_names_free(&model->names);
    PACE_VEC_FREE(&model->layers, &model->inputs, &model->rows);
    pace_recorded_free(model->recorded);
    *model = (pace_model){0};
}

pace_loss_read pace_model_reads_loss(const pace_model *model, const pace_config *config) {
    int when = config->read_loss == PACE_LOSS_USUAL ? model->read_loss : config->read_loss;
    if (config->mode != PACE_TRAINING || when == PACE_LOSS_USUAL) return PACE_LOSS_UNREAD;
    return when == PACE_LOSS_READ_FIRST && (config->execution != PACE_EAGER || pace_config_issues_passes(config))
               ? PACE_LOSS_READ_LAST
               : (pace_loss_read)when;
}

/* torch.compile puts one kernel in the place of the products it finds (torch/_inductor/fx_passes/fuse_attention.py). */
bool pace_model_forms_scores(const pace_model *model, const pace_config *config) {
    if (config->attention != PACE_ATTENTION_USUAL) return config->attention == PACE_ATTENTION_MATH;
    return model->forms_scores && config->execution != PACE_COMPILED;
}

double pace_model_sequence(const pace_model *model, const pace_config *config) {
    return config->sequence > 0 ? config->sequence : model->sequence;
}

double pace_shape_elements(const pace_shape *shape, double sequence) {
    double elements = shape->channels * shape->height * shape->width;
    return shape->sequence ? elements * sequence : elements;
}

double pace_layer_span(const pace_layer *layer, double sequence) {
    double sliding = layer->option[PACE_OPTION_SLIDING], part = layer->option[PACE_OPTION_WINDOW];
    if (layer->kind != PACE_LAYER_ATTENTION || !layer->shape.sequence) return sequence;
    if (sliding > 0) return fmin(sliding, sequence);
    if (!(part > 0) || part >= sequence) return sequence;
    double last = fmod(sequence, part);
    return ((sequence - last) * part + last * last) / sequence;
}

double pace_layer_multiply_adds(const pace_layer *layer, double sequence) {
    const double *work = layer->multiply_adds;
    return work[0] + sequence * (work[1] + pace_layer_span(layer, sequence) * work[2]);
}

/* Which operators torch.autocast runs in half and which in single precision: PyTorch's "Autocast op reference". */
int pace_layer_element_bytes(const pace_layer *layer, const pace_config *config, int input_bytes) {
    int held = pace_config_parameter_bytes(config);
    bool amp = pace_config_is_amp(config);
    if (layer->kind == PACE_LAYER_INPUT)
        return layer->word[0] == 't' || layer->word[1] == 'n' ? 8 : held; /* tokens, indices */
    switch (layer->rule->autocast) {
    case PACE_AUTOCAST_HELD: return held;
    case PACE_AUTOCAST_HALF: return amp ? 2 : held;
    case PACE_AUTOCAST_SINGLE: return amp ? 4 : held;
    default: return input_bytes > 0 ? input_bytes : held;
    }
}

/* Samples that are packed into a sequence need one, and a kernel that computes their scores alone. */
static pace_status check_samples(const pace_model *model, const pace_config *config) {
    double sample = config->sample_tokens, words = pace_model_sequence(model, config);
    const char *name = pace_names_text(&model->names, model->name);
    if (!(sample > 0)) return PACE_OK;
    if (!(model->sequence > 0) || !pace_model_has_layer(model, PACE_LAYER_ATTENTION))
        return pace_fail(PACE_E_USAGE, "sample_tokens %g: the model \"%s\" has no attention within a sequence", sample,
                         name);
    if (sample >= words)
        return pace_fail(PACE_E_USAGE, "sample_tokens %g: expected fewer than the %g tokens of a sequence", sample,
                         words);
    if (!pace_model_forms_scores(model, config)) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "sample_tokens %g: expected attention fused, found products, which form all scores of a sequence",
                     sample);
}

pace_status pace_model_check_parallel(const pace_model *model, const pace_config *config) {
    const char *name = pace_names_text(&model->names, model->name);
    double experts = 0;
    bool sharded = false, routed = false;
    if (config->lora != model->lora)
        return pace_fail(PACE_E_USAGE, "lora %g: adapters are not placed here: expected lora 0", config->lora);
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        sharded |= layer->shard != PACE_SHARD_NONE;
        routed |= layer->rule->expert_elements != NULL;
        if (layer->rule->expert_elements) experts = layer->option[PACE_OPTION_EXPERTS];
        if (layer->rule->sparse) experts = config->ep; /* tables are cut wherever it fits */
        if (layer->option[PACE_OPTION_HEADS] > 0 && fmod(layer->option[PACE_OPTION_HEADS], config->tp) != 0)
            return pace_fail(PACE_E_USAGE, "tp %g does not divide the %g heads of \"%s\"", config->tp,
                             layer->option[PACE_OPTION_HEADS], name);
    }
    if (config->tp > 1 && !sharded)
        return pace_fail(PACE_E_USAGE, "tp %g: no layer of the model \"%s\" is split over tensor-parallel ranks",
                         config->tp, name);
    if (config->cp > 1 && !(model->sequence > 0))
        return pace_fail(PACE_E_USAGE, "cp %g: the model \"%s\" has no sequence to split", config->cp, name);
    if (config->cp > 1 && fmod(pace_model_sequence(model, config), config->cp) != 0)
        return pace_fail(PACE_E_USAGE, "cp %g does not divide the %g tokens of a sequence of \"%s\"", config->cp,
                         pace_model_sequence(model, config), name);
    if (config->cp > 1 && pace_model_has_layer(model, PACE_LAYER_LSTM))
        return pace_fail(PACE_E_USAGE, "cp %g: layers of \"%s\" run along the sequence, token by token", config->cp,
                         name);
    if (config->ep > 1 && experts == 0)
        return pace_fail(PACE_E_USAGE, "ep %g: the model \"%s\" has no experts", config->ep, name);
    if (config->ep > 1 && fmod(experts, config->ep) != 0)
        return pace_fail(PACE_E_USAGE, "ep %g does not divide the %g experts of \"%s\"", config->ep, experts, name);
    PACE_TRY(pace_model_check_graphs(model, config));
    PACE_TRY(check_samples(model, config));
    if (config->expert_nodes > 0 && !routed)
        return pace_fail(PACE_E_USAGE, "expert_nodes %g: the model \"%s\" has no experts", config->expert_nodes, name);
    if (config->imbalance > 0 && !routed)
        return pace_fail(PACE_E_USAGE, "imbalance %g: the model \"%s\" has no experts", config->imbalance, name);
    return PACE_OK;
}

pace_status pace_model_check_graphs(const pace_model *model, const pace_config *config) {
    bool routed = false;
    for (size_t i = 0; i < model->layers.count; i++) routed |= model->layers.items[i].rule->expert_elements != NULL;
    const char *name = pace_names_text(&model->names, model->name);
    if (routed && config->execution == PACE_CUDA_GRAPH && config->mode == PACE_TRAINING)
        return pace_fail(PACE_E_USAGE,
                         "execution graph: expected eager or compiled, found the model \"%s\", whose experts get other "
                         "numbers of tokens each time",
                         name);
    if (config->graphs < PACE_GRAPHS_BLOCKS || !routed) return PACE_OK;
    return pace_fail(
        PACE_E_USAGE,
        "graphs %s: expected attention or none, found the model \"%s\", whose experts get other numbers of "
        "tokens each time",
        pace_config_word(config, "graphs"), name);
}

bool pace_model_has_layer(const pace_model *model, pace_layer_kind kind) {
    for (size_t i = 0; i < model->layers.count; i++)
        if (model->layers.items[i].kind == kind) return true;
    return false;
}
