#include "model/adapters.h"

#include "model/layer.h"

#include <stdio.h>

typedef struct {
    pace_model *to;
    const pace_model *from;
    const pace_config *config;
    uint32_t *output; /* of each layer of `from`: which layer of `to` has what its readers read */
    unsigned adapted;
} adapting;

static bool is_product(const pace_layer *layer) { return layer->kind == PACE_LAYER_LINEAR && layer->segment > 0; }

static bool attends(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_ATTENTION || layer->kind == PACE_LAYER_ADDITIVE_ATTENTION;
}

enum { QUERIES = 1, KEYS = 2, VALUES = 4 };

/* As what attention reads a layer's output, with norms between them at most: one product may be all three. */
static unsigned attention_reads(const pace_model *model, uint32_t number) {
    unsigned found = 0;
    for (uint32_t i = number + 1; i < model->layers.count; i++) {
        const pace_layer *reader = &model->layers.items[i];
        for (uint32_t k = 0; k < reader->input_count; k++) {
            if (model->inputs.items[reader->first_input + k] != number) continue;
            bool norm = reader->kind == PACE_LAYER_RMS_NORM || reader->kind == PACE_LAYER_LAYER_NORM;
            if (attends(reader)) found |= reader->input_count < 3 ? QUERIES | KEYS | VALUES : 1U << k;
            else if (norm) found |= attention_reads(model, i);
        }
    }
    return found;
}

static bool is_adapted(const adapting *a, uint32_t number) {
    const pace_layer *layer = &a->from->layers.items[number];
    if (!is_product(layer)) return false;
    switch ((pace_lora_layers)a->config->lora_layers) {
    case PACE_LORA_ALL: return true;
    case PACE_LORA_QUERY_VALUE: return attention_reads(a->from, number) & (QUERIES | VALUES);
    case PACE_LORA_ATTENTION: break;
    }
    return attends(pace_layer_input(a->from, layer, 0)) || attention_reads(a->from, number);
}

static pace_status append(adapting *a, pace_layer layer, const char *suffix, const pace_layer *beside,
                          const uint32_t *inputs, size_t count) {
    char name[256];
    snprintf(name, sizeof name, "%.200s%s", pace_names_text(&a->from->names, beside->name), suffix);
    layer.segment = beside->segment;
    layer.training_only = beside->training_only;
    return pace_model_append(a->to, layer, layer.rule, name, inputs, count, NULL);
}

static pace_layer product(double out, uint8_t shard) {
    pace_layer layer = pace_layer_make(pace_layer_rule_find("linear"));
    layer.option[PACE_OPTION_OUT] = out;
    layer.option[PACE_OPTION_BIAS] = 0;
    layer.shard = shard;
    return layer;
}

static pace_status add_adapter(adapting *a, const pace_layer *layer, uint32_t input, uint32_t *output) {
    bool row = layer->shard == PACE_SHARD_ROW;
    pace_layer down = product(a->config->lora, row ? PACE_SHARD_ROW : PACE_SHARD_NONE);
    pace_layer up = product(layer->shape.channels, row ? PACE_SHARD_NONE : layer->shard);
    uint32_t last = *output;
    PACE_TRY(append(a, down, ".lora_A", layer, &input, 1));
    for (int i = 0; i < 2; i++) {
        uint32_t before = (uint32_t)a->to->layers.count - 1;
        pace_layer scale = pace_layer_make(pace_layer_rule_find("scale"));
        PACE_TRY(append(a, i == 0 ? up : scale, i == 0 ? ".lora_B" : ".lora_scale", layer, &before, 1));
    }
    const uint32_t both[] = {last, (uint32_t)a->to->layers.count - 1};
    PACE_TRY(append(a, pace_layer_make(pace_layer_rule_find("add")), ".lora", layer, both, PACE_COUNT(both)));
    *output = (uint32_t)a->to->layers.count - 1;
    a->adapted++;
    return PACE_OK;
}

static pace_status copy_layer(adapting *a, uint32_t number) {
    pace_layer layer = a->from->layers.items[number];
    layer.frozen = true;
    if (is_product(&layer) || layer.rule->expert_elements) layer.packed = pace_config_packed_bytes(a->config);
    layer.first_input = (uint32_t)a->to->inputs.count;
    for (uint32_t k = 0; k < layer.input_count; k++) {
        uint32_t from = a->from->inputs.items[a->from->layers.items[number].first_input + k];
        PACE_TRY(PACE_PUSH(&a->to->inputs, a->output[from]));
    }
    a->output[number] = (uint32_t)a->to->layers.count;
    PACE_TRY(PACE_PUSH(&a->to->layers, layer));
    if (!is_adapted(a, number)) return PACE_OK;
    return add_adapter(a, &a->from->layers.items[number], a->to->inputs.items[layer.first_input], &a->output[number]);
}

/* The same texts in the same order have the same numbers. */
static pace_status copy_head(pace_model *to, const pace_model *from) {
    pace_name name;
    for (pace_name i = 0; i < pace_names_count(&from->names); i++)
        PACE_TRY(
            pace_names_add(&name, &to->names, pace_names_text(&from->names, i), pace_names_length(&from->names, i)));
    for (size_t i = 0; i < from->rows.count; i++) PACE_TRY(PACE_PUSH(&to->rows, from->rows.items[i]));
    to->name = from->name, to->family = from->family, to->about = from->about, to->source = from->source;
    to->sequence = from->sequence;
    to->pinned = from->pinned, to->short_indices = from->short_indices;
    to->forms_scores = from->forms_scores, to->text_alone = from->text_alone;
    to->segments = from->segments;
    return PACE_OK;
}

static pace_status check(const adapting *a) {
    const char *name = pace_names_text(&a->from->names, a->from->name);
    if (a->from->recorded)
        return pace_fail(
            PACE_E_USAGE,
            "lora: expected a model of the catalogue or a file: %s was found in a recording, as it was trained", name);
    return PACE_OK;
}

static pace_status adapt(adapting *a) {
    PACE_TRY(check(a));
    PACE_TRY(copy_head(a->to, a->from));
    for (uint32_t i = 0; i < a->from->layers.count; i++) PACE_TRY(copy_layer(a, i));
    if (a->adapted > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "lora: the model \"%s\" has no products %s to stand beside",
                     pace_names_text(&a->from->names, a->from->name),
                     a->config->lora_layers == PACE_LORA_ALL ? "in blocks that repeat" : "around attention");
}

pace_status pace_model_adapt(pace_model *out, const pace_model *model, const pace_config *config) {
    pace_model adapted = {.lora = config->lora};
    adapting a = {.to = &adapted, .from = model, .config = config};
    PACE_TRY(pace_names_init(&adapted.names));
    a.output = pace_alloc(model->layers.count + 1, sizeof *a.output);
    pace_status status = a.output ? adapt(&a) : PACE_E_MEMORY;
    pace_free(a.output);
    return PACE_GIVE(out, adapted, status, pace_model_free(&adapted));
}

pace_status pace_model_take_adapters(pace_model *model, const pace_config *config) {
    pace_model adapted;
    if (!(config->lora > 0)) return PACE_OK;
    PACE_TRY(pace_model_adapt(&adapted, model, config));
    pace_model_free(model);
    *model = adapted;
    return PACE_OK;
}
