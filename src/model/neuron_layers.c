#include "model/neuron_layers.h"

typedef struct {
    pace_neuron_layers *chain;
    const pace_model *model;
} finder;

static double elements_of(const pace_shape *shape) { return shape->channels * shape->height * shape->width; }

static pace_status refuse(const finder *f, const pace_layer *layer, const char *why) {
    return pace_fail(PACE_E_USAGE,
                     "%s: layer %s (%s) %s: only a chain of convolutions and linear layers is partitioned",
                     pace_names_text(&f->model->names, f->model->name), pace_names_text(&f->model->names, layer->name),
                     layer->word, why);
}

/* Rows of the layer before that a part reads beyond its own, to each side, as a share of all. */
static double reach_of(const pace_layer *layer, const pace_shape *from) {
    double kernel = (layer->option[PACE_OPTION_KERNEL] - 1) * layer->option[PACE_OPTION_DILATION] + 1;
    return fmin(1, fmax(0, kernel - layer->option[PACE_OPTION_STRIDE]) / 2 / from->height);
}

static pace_status add_layer(const finder *f, const pace_layer *layer) {
    bool convolution = layer->kind == PACE_LAYER_CONVOLUTION;
    const pace_shape *from = &pace_layer_input(f->model, layer, 0)->shape;
    double neurons = elements_of(&layer->shape);
    pace_neuron_layer one = {.name = layer->name,
                             .convolution = convolution,
                             .neurons = neurons,
                             .connections = layer->multiply_adds[0],
                             .weights = layer->parameters,
                             .outputs = neurons,
                             .rows = convolution ? layer->shape.height : neurons,
                             .reach = convolution ? reach_of(layer, from) : 1};
    return PACE_PUSH(&f->chain->layers, one);
}

/* What follows a layer of neurons belongs to it; before the first there may be nothing. */
static pace_status add_behind(const finder *f, const pace_layer *layer, double reads) {
    if (f->chain->layers.count == 0) return refuse(f, layer, "stands before the first of them");
    pace_neuron_layer *last = &f->chain->layers.items[f->chain->layers.count - 1];
    last->evaluations += reads;
    last->outputs = elements_of(&layer->shape);
    return PACE_OK;
}

static double window_of(const pace_layer *layer) {
    return layer->option[PACE_OPTION_KERNEL] * layer->option[PACE_OPTION_KERNEL_WIDTH];
}

static pace_status visit(const finder *f, size_t index) {
    const pace_layer *layer = &f->model->layers.items[index];
    double elements = elements_of(&layer->shape);
    if (layer->kind == PACE_LAYER_INPUT) return index == 0 ? PACE_OK : refuse(f, layer, "is a second input");
    if (layer->shape.sequence) return refuse(f, layer, "has a sequence");
    if (layer->input_count != 1 || f->model->inputs.items[layer->first_input] + 1 != index)
        return refuse(f, layer, "does not read the layer before it");
    switch (layer->kind) {
    case PACE_LAYER_CONVOLUTION:
    case PACE_LAYER_LINEAR: return add_layer(f, layer);
    case PACE_LAYER_ACTIVATION:
    case PACE_LAYER_DROPOUT:
    case PACE_LAYER_LOCAL_NORM: return add_behind(f, layer, elements);
    case PACE_LAYER_MAX_POOL:
    case PACE_LAYER_AVERAGE_POOL: return add_behind(f, layer, elements * window_of(layer));
    case PACE_LAYER_ADAPTIVE_POOL:
        return add_behind(f, layer, elements_of(&pace_layer_input(f->model, layer, 0)->shape));
    case PACE_LAYER_FLATTEN: return f->chain->layers.count ? add_behind(f, layer, 0) : PACE_OK;
    case PACE_LAYER_LOSS: return PACE_OK;
    default: return refuse(f, layer, "is no layer of neurons");
    }
}

pace_status pace_neuron_layers_find(pace_neuron_layers *out, const pace_model *model) {
    pace_neuron_layers chain = {0};
    const finder f = {&chain, model};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < model->layers.count; i++) status = visit(&f, i);
    if (status == PACE_OK && chain.layers.count == 0)
        status = pace_fail(PACE_E_USAGE, "%s: has no layer of neurons", pace_names_text(&model->names, model->name));
    if (status == PACE_OK) /* an error of each output */
        chain.layers.items[chain.layers.count - 1].evaluations += chain.layers.items[chain.layers.count - 1].neurons;
    return PACE_GIVE(out, chain, status, pace_neuron_layers_free(&chain));
}

void pace_neuron_layers_free(pace_neuron_layers *chain) { PACE_VEC_FREE(&chain->layers); }
