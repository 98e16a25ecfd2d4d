#include "forecast/gradient_tables.h"

/* A table that a linear layer uses as its weight gets a gradient for every row. */
static bool is_tied(const pace_model *model, const pace_layer *table) {
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        if (layer->kind == PACE_LAYER_LINEAR && layer->option[PACE_OPTION_TIED] > 0 &&
            layer->option[PACE_OPTION_OUT] == table->option[PACE_OPTION_ROWS])
            return true;
    }
    return false;
}

/* Gradients are of 4 bytes an element, as exchanged. */
static pace_status add_tables(pace_gradient_tables *out, const pace_model *model, const pace_layer *layer,
                              const pace_config *config) {
    size_t count = layer->rule->lists_rows ? (size_t)layer->option[PACE_OPTION_TABLES] : 1;
    for (size_t i = 0; i < count; i++) {
        pace_layer_table table = layer->rule->table(model, layer, config, i);
        pace_gradient_table added = {4 * table.rows * table.width, table.rows, config->micro_batch * table.lookups};
        PACE_TRY(PACE_PUSH(out, added));
    }
    return PACE_OK;
}

pace_status pace_gradient_tables_of(pace_gradient_tables *out, const pace_model *model, const pace_config *config) {
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        if (!layer->rule->table || layer->tensors == 0) continue;
        if (!layer->rule->lists_rows && is_tied(model, layer)) continue;
        PACE_TRY(add_tables(out, model, layer, config));
    }
    return PACE_OK;
}
