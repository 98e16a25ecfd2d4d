#include "model/parts.h"

#include "model/lower_ops.h"

#include <string.h>

void pace_model_parts_free(pace_model_parts *parts) { PACE_VEC_FREE(&parts->parts, &parts->order); }

/* A window that hides nothing is none. */
static bool alike_options(const pace_layer *a, const pace_layer *b, double sequence) {
    double of[2][PACE_OPTIONS];
    memcpy(of[0], a->option, sizeof of[0]);
    memcpy(of[1], b->option, sizeof of[1]);
    for (int i = 0; i < 2; i++)
        for (int option = PACE_OPTION_WINDOW; option <= PACE_OPTION_SLIDING; option++)
            if (a->shape.sequence && of[i][option] >= sequence) of[i][option] = 0;
    return memcmp(of[0], of[1], sizeof of[0]) == 0;
}

static bool alike_layers(const pace_layer *a, const pace_layer *b, double sequence) {
    return a->rule == b->rule && a->shard == b->shard && a->parameters == b->parameters && a->frozen == b->frozen &&
           alike_options(a, b, sequence) && a->shape.channels == b->shape.channels &&
           a->shape.height == b->shape.height && a->shape.width == b->shape.width &&
           a->shape.sharded == b->shape.sharded && a->shape.last == b->shape.last;
}

static bool alike(const pace_model *model, const pace_model_part *part, uint32_t first, uint32_t last,
                  double sequence) {
    if (part->place != PACE_PART_LAYER || part->last - part->first != last - first) return false;
    for (uint32_t i = 0; i <= last - first; i++)
        if (!alike_layers(&model->layers.items[part->first + i], &model->layers.items[first + i], sequence))
            return false;
    return true;
}

static void count_parameters(pace_model_part *part, const pace_model *model, const pace_config *config) {
    pace_lowering to = {.model = model, .config = config};
    for (uint32_t i = part->first; i <= part->last; i++) {
        const pace_layer *layer = &model->layers.items[i];
        double all = pace_lower_parameters(&to, layer);
        double experts = layer->rule->expert_elements ? layer->rule->expert_elements(layer) : 0;
        double router = experts > 0 ? layer->parameters - experts : all;
        if (layer->rule->sparse) { /* updated where its gradient is formed, and never gathered */
            part->table_parameters += all;
            continue;
        }
        bool put_off = pace_layer_puts_off(layer);
        part->tensors += layer->tensors;
        part->put_off_tensors += put_off ? layer->tensors : 0;
        part->put_off_parameters += put_off ? all : 0;
        part->parameters += router;
        part->expert_parameters += all - router;
        part->trained_parameters += layer->frozen ? 0 : router;
        part->trained_expert_parameters += layer->frozen ? 0 : all - router;
    }
}

static pace_status add_part(pace_model_parts *out, const pace_model *model, const pace_config *config, uint32_t first,
                            uint32_t last, pace_part_place place) {
    for (size_t i = 0; place == PACE_PART_LAYER && i < out->parts.count; i++)
        if (alike(model, &out->parts.items[i], first, last, pace_model_sequence(model, config))) {
            out->parts.items[i].turns++;
            return PACE_PUSH(&out->order, (uint32_t)i);
        }
    pace_model_part part = {.place = place, .first = first, .last = last, .turns = 1, .behind = out->layers};
    count_parameters(&part, model, config);
    if (place == PACE_PART_LAYER) PACE_TRY(PACE_PUSH(&out->order, (uint32_t)out->parts.count));
    return PACE_PUSH(&out->parts, part);
}

static pace_status divide(pace_model_parts *out, const pace_model *model, const pace_config *config) {
    const pace_layer *layers = model->layers.items;
    bool repeated = false;
    for (uint32_t first = 0, last; first < model->layers.count; first = last + 1) {
        uint32_t segment = layers[first].segment;
        for (last = first; last + 1 < model->layers.count && layers[last + 1].segment == segment;) last++;
        pace_part_place place = segment > 0 ? PACE_PART_LAYER : repeated ? PACE_PART_TAIL : PACE_PART_HEAD;
        repeated |= segment > 0;
        out->layers += segment > 0;
        PACE_TRY(add_part(out, model, config, first, last, place));
    }
    if (repeated || out->parts.count == 0) return PACE_OK;
    out->parts.items[0].place = PACE_PART_LAYER; /* a convolutional network: one stage, whole */
    out->layers = 1;
    return PACE_PUSH(&out->order, (uint32_t)0);
}

/* Of all places where a pipeline may be cut, in the mean: networks of images get narrower. */
static pace_status find_boundary(pace_model_parts *out, const pace_model *model, const pace_config *config) {
    double sequence = pace_model_sequence(model, config) / config->cp, sum = 0;
    size_t places = out->order.count > 1 ? out->order.count - 1 : out->order.count;
    int *bytes = pace_alloc(model->layers.count + 1, sizeof *bytes);
    if (!bytes) return PACE_E_MEMORY;
    pace_model_element_bytes(bytes, model, config);
    for (size_t i = 0; i < places; i++) {
        uint32_t last = out->parts.items[out->order.items[i]].last;
        sum += pace_shape_elements(&model->layers.items[last].shape, sequence) * bytes[last];
    }
    if (places > 0) out->boundary_bytes = sum / (double)places;
    pace_free(bytes);
    return PACE_OK;
}

pace_status pace_model_parts_find(pace_model_parts *out, const pace_model *model, const pace_config *config) {
    pace_model_parts parts = {0};
    pace_status status = divide(&parts, model, config);
    if (status == PACE_OK) status = find_boundary(&parts, model, config);
    return PACE_GIVE(out, parts, status, pace_model_parts_free(&parts));
}
