#include "model/recompute.h"

#include "model/layer.h"

static bool attends(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_ATTENTION || layer->kind == PACE_LAYER_ADDITIVE_ATTENTION;
}

static bool is_norm(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_RMS_NORM || layer->kind == PACE_LAYER_LAYER_NORM;
}

typedef struct {
    uint32_t first, end, attention; /* layers; attention = end: there is none */
    bool experts;
} block;

static block block_of(const pace_model *model, uint32_t layer) {
    const pace_layer *layers = model->layers.items;
    block b = {layer, layer, 0, false};
    while (b.first > 0 && layers[b.first - 1].segment == layers[layer].segment) b.first--;
    while (b.end < model->layers.count && layers[b.end].segment == layers[layer].segment) b.end++;
    b.attention = b.end;
    for (uint32_t i = b.first; i < b.end; i++) {
        if (attends(&layers[i])) b.attention = i;
        b.experts |= layers[i].kind == PACE_LAYER_EXPERTS;
    }
    return b;
}

/* A norm of what blocks hand on, not of queries, keys or what latent attention compresses. */
static bool norms_block(const pace_model *model, const block *b, uint32_t layer) {
    const pace_layer *one = &model->layers.items[layer];
    return is_norm(one) && one->shape.channels == model->layers.items[b->end - 1].shape.channels;
}

/* Behind the norm that follows attention. */
static bool is_of_mlp(const pace_model *model, const block *b, uint32_t layer) {
    const pace_layer *one = &model->layers.items[layer];
    if (one->kind == PACE_LAYER_ADD || is_norm(one) || b->attention == b->end) return false;
    for (uint32_t i = b->attention + 1; i < layer; i++)
        if (norms_block(model, b, i)) return true;
    return false;
}

/* Of latent attention: what a norm of fewer channels gives is projected up. */
static bool projects_up(const pace_model *model, const block *b, uint32_t layer) {
    const pace_layer *one = &model->layers.items[layer];
    if (one->kind != PACE_LAYER_LINEAR || layer >= b->attention || b->attention == b->end) return false;
    uint32_t from = model->inputs.items[one->first_input];
    return is_norm(&model->layers.items[from]) && !norms_block(model, b, from);
}

/* One bit, or 0. */
static unsigned module_of(const pace_model *model, uint32_t layer) {
    const pace_layer *one = &model->layers.items[layer];
    if (one->rule->recomputed) return PACE_MODULE_CORE_ATTN;
    if (one->kind == PACE_LAYER_EXPERTS) return PACE_MODULE_MOE;
    if (one->segment == 0) return 0;
    block b = block_of(model, layer);
    if (norms_block(model, &b, layer)) return PACE_MODULE_LAYERNORM;
    if (projects_up(model, &b, layer)) return PACE_MODULE_MLA_UP_PROJ;
    if (!is_of_mlp(model, &b, layer)) return 0;
    return b.experts ? PACE_MODULE_SHARED_EXPERTS : PACE_MODULE_MLP;
}

bool pace_layer_is_of_selection(const pace_layer *layer, const pace_config *config) {
    bool selective = config->recompute == PACE_RECOMPUTE_SELECTIVE && pace_config_modules(config) == 0;
    return selective && config->selects_products > 0 && layer->segment > 0;
}

bool pace_layer_is_selected(const pace_layer *layer, const pace_config *config, unsigned *products) {
    if (!pace_layer_is_of_selection(layer, config)) return false;
    if (layer->kind == PACE_LAYER_LINEAR) return (*products)++ % config->selects_products == 0;
    return layer->kind == PACE_LAYER_ATTENTION;
}

static pace_again of_modules(const pace_model *model, uint32_t layer, unsigned modules) {
    if (module_of(model, layer) & modules) return PACE_AGAIN_ALL;
    bool experts = model->layers.items[layer].kind == PACE_LAYER_EXPERTS;
    return experts && (modules & PACE_MODULE_MOE_ACT) ? PACE_AGAIN_ACTIVATION : PACE_AGAIN_NOTHING;
}

static bool is_again(const pace_model *model, const pace_layer *layer, const pace_config *config, unsigned *products) {
    if (config->recompute == PACE_RECOMPUTE_FULL) return layer->segment > 0;
    if (pace_layer_is_of_selection(layer, config)) return !pace_layer_is_selected(layer, config, products);
    return layer->rule->recomputed && pace_model_forms_scores(model, config);
}

pace_again pace_layer_again(const pace_model *model, uint32_t layer, const pace_config *config, unsigned *products) {
    unsigned modules = pace_config_modules(config);
    if (config->recompute == PACE_RECOMPUTE_NONE) return PACE_AGAIN_NOTHING;
    if (modules) return of_modules(model, layer, modules);
    return is_again(model, &model->layers.items[layer], config, products) ? PACE_AGAIN_ALL : PACE_AGAIN_NOTHING;
}

bool pace_layer_is_dropped(const pace_model *model, uint32_t layer, const pace_config *config) {
    unsigned modules = pace_config_modules(config);
    return modules && (module_of(model, layer) & modules & ~(unsigned)PACE_MODULE_CORE_ATTN);
}

unsigned pace_model_lacks_modules(const pace_model *model, unsigned modules) {
    unsigned lacks = modules;
    for (uint32_t i = 0; i < model->layers.count && lacks; i++) {
        lacks &= ~module_of(model, i);
        if (model->layers.items[i].kind == PACE_LAYER_EXPERTS) lacks &= ~(unsigned)PACE_MODULE_MOE_ACT;
    }
    return lacks;
}
