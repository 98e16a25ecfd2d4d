#include "ask/predict/setting_effects.h"
#include "cost/formula.h"
#include "model/model_settings.h"
#include "model/recompute.h"

#include <string.h>

typedef pace_setting_question question;

static bool attends(const question *q) { return pace_model_has_layer(q->model, PACE_LAYER_ATTENTION); }

/* Others' steps have a closed form, which knows no copies of input, kernels of an update or buckets. */
static bool is_lowered(const question *q) { return !q->framework || pace_framework_is_lowered(q->framework); }

/* Others' kernels may be fused, but each is launched by itself. */
static bool launches(const question *q) {
    return is_lowered(q) || q->config->execution != PACE_CUDA_GRAPH || q->config->execution == q->framework->execution;
}

/* What is walked computes the loss as PyTorch's operators do. */
static bool writes_loss(const question *q) { return q->framework && !pace_framework_is_lowered(q->framework); }

static bool has_loss(const question *q) { return pace_model_has_layer(q->model, PACE_LAYER_LOSS); }

static bool keeps_parameters(const question *q) { return q->config->zero_stage < 3; }

static bool has_sequence(const question *q) { return q->model->sequence > 0 || q->config->sequence == 0; }

static bool looks_up(const question *q) {
    return pace_model_has_layer(q->model, PACE_LAYER_EMBEDDING) ||
           pace_model_has_layer(q->model, PACE_LAYER_EMBEDDING_BAG);
}

static bool interacts(const question *q) {
    return q->config->execution == PACE_EAGER && pace_model_has_layer(q->model, PACE_LAYER_INTERACTION);
}

static bool has_replicas(const question *q) { return !q->placed || pace_config_shares_gradients(q->config); }

/* States that one rank has are not divided; to say so changes nothing and is no mistake. */
static bool divides_states(const question *q) { return !(q->config->zero_stage > 0) || has_replicas(q); }

static bool drains(const question *q) { return !(q->config->defer_logits > 0) || !q->placed || q->config->pp > 1; }

static bool splits_tokens(const question *q) {
    return !(q->config->sequence_parallel > 0) || !q->placed || q->config->tp > 1;
}

static bool convolves_in_fp32(const question *q) {
    return q->config->precision == PACE_RUN_FP32 && pace_model_has_layer(q->model, PACE_LAYER_CONVOLUTION);
}

static bool convolves(const question *q) { return pace_model_has_layer(q->model, PACE_LAYER_CONVOLUTION); }

/* Outside matrix units images are taken as they lie. */
static bool feeds_matrix_units(const question *q) { return pace_config_convolution_precision(q->config) != PACE_FP32; }

static bool orders_no_images(const question *q) { return q->config->execution != PACE_COMPILED; }

static bool recomputes_blocks(const question *q) {
    return q->config->recompute != PACE_RECOMPUTE_FULL || q->model->segments > 0;
}

static bool keeps_master(const question *q) {
    bool wide = q->config->moment_bytes == 0 || q->config->moment_bytes == 4;
    return wide || (writes_loss(q) && pace_config_moments_save(q->config) > 0);
}

static bool says_loss(const question *q) {
    return q->config->cross_entropy == PACE_CROSS_ENTROPY_LINEAR || writes_loss(q);
}

static bool recomputes_attention(const question *q) {
    return q->config->recompute != PACE_RECOMPUTE_SELECTIVE || attends(q);
}

static bool recomputes_modules(const question *q) {
    return q->config->recompute_modules == 0 || !q->placed || q->config->recompute == PACE_RECOMPUTE_SELECTIVE;
}

static bool has_modules(const question *q) {
    return !recomputes_modules(q) || pace_model_lacks_modules(q->model, (unsigned)q->config->recompute_modules) == 0;
}

static bool recomputes_layers(const question *q) {
    return q->config->recompute_layers == 0 || !q->placed || q->config->recompute == PACE_RECOMPUTE_FULL;
}

static bool recomputes_passes(const question *q) { return q->config->recompute_layers == 0 || writes_loss(q); }

static bool has_linear(const question *q) { return pace_model_has_layer(q->model, PACE_LAYER_LINEAR); }

static bool is_fitted(const question *q) { return q->fitted || q->config->weights == PACE_WEIGHTS_PLAIN; }

static bool captures_blocks(const question *q) {
    bool blocks = q->config->graphs == PACE_GRAPHS_ATTENTION || q->config->graphs == PACE_GRAPHS_BLOCKS;
    return !blocks || q->model->segments > 0;
}

static bool captures_attention(const question *q) { return q->config->graphs != PACE_GRAPHS_ATTENTION || attends(q); }

static const char of_pytorch[] = "unless framework=pytorch";

static const struct {
    const char *key;
    bool (*acts)(const question *q);
    const char *why;
} rules[] = {
    {"zero_stage", divides_states, "without dp or cp above 1"},
    {"bucket_bytes", has_replicas, "without dp or cp above 1: no gradients are exchanged"},
    {"bucket_bytes", keeps_parameters, "with zero_stage 3, which scatters gradients block by block"},
    {"bucket_bytes", is_lowered, of_pytorch},
    {"input", is_lowered, of_pytorch},
    {"indices", is_lowered, of_pytorch},
    {"update", is_lowered, of_pytorch},
    {"moment_bytes", keeps_master,
     "without Adam, or with framework=pytorch or its kin, whose moments are as wide as parameters"},
    {"cross_entropy", has_loss, "on a model without a loss"},
    {"cross_entropy", says_loss, "with framework=pytorch or its kin, whose operators are walked, unless it is linear"},
    {"defer_logits", drains, "without pp above 1"},
    {"defer_logits", writes_loss, "with framework=pytorch or its kin, whose operators are walked"},
    {"execution", launches, "with this value unless framework=pytorch"},
    {"graphs", captures_blocks, "with this value on a model that repeats no block of layers"},
    {"graphs", captures_attention, "with the value attention on a model without attention layers"},
    {"sequence_parallel", splits_tokens, "without tp above 1"},
    {"sequence", has_sequence, "on a model without a sequence"},
    {"attention", attends, "on a model without attention layers"},
    {"indices", looks_up, "on a model that looks nothing up in a table"},
    {"pair_indices", interacts, "on a model without an interaction of vectors, or unless execution=eager"},
    {"recompute", recomputes_blocks, "with the value full on a model that repeats no block of layers"},
    {"recompute", recomputes_attention, "with the value selective on a model without attention layers"},
    {"recompute_modules", recomputes_modules, "without recompute=selective"},
    {"recompute_modules", has_modules, "with a module that the model has no layers of"},
    {"recompute_layers", recomputes_layers, "without recompute=full"},
    {"recompute_layers", recomputes_passes, "with framework=pytorch or its kin, whose operators are walked"},
    {"weights", has_linear, "on a model without linear layers"},
    {"weights", is_lowered, of_pytorch},
    {"weights", is_fitted, "with the value packed without a fit of kernels that were measured so"},
    {"layout", convolves, "on a model without convolutions"},
    {"layout", orders_no_images, "with execution=compiled, which lays images out itself"},
    {"layout", feeds_matrix_units, "in single precision without TF32"},
    {"allow_tf32", convolves_in_fp32, "without convolutions in precision=fp32"},
};

static bool is_of_training(const char *key) {
    for (size_t i = 0; pace_settings_of_training[i]; i++)
        if (strcmp(pace_settings_of_training[i], key) == 0) return true;
    return false;
}

const char *pace_setting_idle(const char *key, const pace_setting_question *asked) {
    if (asked->config->mode == PACE_INFERENCE && is_of_training(key)) return "on inference";
    for (size_t i = 0; i < PACE_COUNT(rules); i++)
        if (strcmp(rules[i].key, key) == 0 && !rules[i].acts(asked)) return rules[i].why;
    return NULL;
}

pace_status pace_settings_check_effect(const pace_words *set, const pace_setting_question *asked) {
    for (size_t i = 0; pace_config_key(i); i++) {
        const char *key = pace_config_key(i), *why = pace_setting_idle(key, asked);
        if (why && pace_settings_name(set, (const char *const[]){key, NULL}))
            return pace_fail(PACE_E_USAGE, "set: %s has no effect %s", key, why);
    }
    return PACE_OK;
}

bool pace_model_convolves_in_tf32(const pace_model *model, const pace_config *config) {
    return pace_config_convolution_precision(config) == PACE_TF32 &&
           pace_model_has_layer(model, PACE_LAYER_CONVOLUTION);
}

bool pace_model_copies_images(const pace_model *model, const pace_config *config, const pace_device *device) {
    pace_precision precision = pace_config_convolution_precision(config);
    bool half = precision == PACE_FP16 || precision == PACE_BF16;
    return half && pace_config_holds_nchw(config) && pace_device_copies_nchw(device) &&
           pace_model_has_layer(model, PACE_LAYER_CONVOLUTION);
}
