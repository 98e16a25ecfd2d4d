#include "report/predict/model_note.h"
#include "report/show.h"

/* Tokens that a layer sees at most, of some that are counted with all; 0 = there are none. */
static double narrowest_window(const pace_model *model) {
    double least = 0;
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        double window = layer->kind == PACE_LAYER_ATTENTION ? layer->option[PACE_OPTION_SLIDING] : 0;
        if (window > 0 && (least == 0 || window < least)) least = window;
    }
    return least;
}

void pace_put_model_note(pace_node *root, const pace_model *model, const pace_config *config) {
    double window = narrowest_window(model), sequence = pace_model_sequence(model, config);
    if (model->recorded) return;
    pace_node_note(root, "%s: %s parameters.", pace_names_text(&model->names, model->name),
                   pace_show_count(pace_model_total(model, config).parameters).text);
    if (window > 0 && window < sequence)
        pace_node_sentence(root, false,
                           "Layers with a window of %.0f tokens are counted as if they saw all %.0f: attention takes "
                           "less time, and MFU is lower, than this says.",
                           window, sequence);
}
