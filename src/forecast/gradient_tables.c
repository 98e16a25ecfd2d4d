#include "forecast/gradient_tables.h"

/* A table that a linear layer uses as its weight gets a gradient for every row. */
static bool is_tied(const pace_model *model, const pace_layer *table) {
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        if (layer->kind == PACE_LAYER_LINEAR && layer->option[PACE_OPTION_TIED] > 0 &&
            layer->option[PACE_OPTION_OUT] == table->option[PACE_OPTION_ROWS])
            return true;
    }
    return false;
}

/* Gradients are of 4 bytes an element, as exchanged. */
static pace_status add_bags(pace_gradient_tables *out, const pace_model *model, const pace_layer *layer,
                            double samples) {
    const double *option = layer->option;
    for (size_t t = 0; t < (size_t)option[PACE_OPTION_TABLES]; t++) {
        double rows = model->rows.items[(size_t)option[PACE_OPTION_ROWS] + t];
        pace_gradient_table table = {4 * rows * option[PACE_OPTION_WIDTH], rows, samples * option[PACE_OPTION_LOOKUPS]};
        PACE_TRY(PACE_PUSH(out, table));
    }
    return PACE_OK;
}

pace_status pace_gradient_tables_of(pace_gradient_tables *out, const pace_model *model, const pace_config *config) {
    double samples = config->micro_batch;
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        pace_gradient_table whole = {4 * layer->parameters, layer->option[PACE_OPTION_ROWS],
                                     samples * pace_model_sequence(model, config)};
        if (layer->kind == PACE_LAYER_EMBEDDING && layer->tensors > 0 && !is_tied(model, layer))
            PACE_TRY(PACE_PUSH(out, whole));
        if (layer->kind == PACE_LAYER_EMBEDDING_BAG) PACE_TRY(add_bags(out, model, layer, samples));
    }
    return PACE_OK;
}
