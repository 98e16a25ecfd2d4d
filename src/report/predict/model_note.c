#include "report/predict/predict_parts.h"
#include "report/show.h"

/* Layers of attention, and those of them whose tokens see the last ones alone, or those of their part. */
typedef struct {
    double all, windowed, window;
    bool slides;
} windowed_layers;

static windowed_layers count_windows(const pace_model *model, double sequence) {
    windowed_layers found = {0};
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        if (layer->kind != PACE_LAYER_ATTENTION) continue;
        found.all++;
        if (!(pace_layer_span(layer, sequence) < sequence)) continue;
        found.windowed++;
        found.slides = layer->option[PACE_OPTION_SLIDING] > 0;
        found.window = layer->option[found.slides ? PACE_OPTION_SLIDING : PACE_OPTION_WINDOW];
    }
    return found;
}

static void put_windows(pace_node *root, const pace_model *model, const pace_config *config) {
    double sequence = pace_model_sequence(model, config);
    windowed_layers found = count_windows(model, sequence);
    const char *which = found.slides ? "the last" : "a part of";
    if (found.windowed == 0) return;
    if (pace_model_forms_scores(model, config))
        pace_node_sentence(root, false,
                           "In %.0f of %.0f layers of attention tokens see %s %.0f tokens alone, but the scores of all "
                           "%.0f are formed and masked.",
                           found.windowed, found.all, which, found.window, sequence);
    else
        pace_node_sentence(root, false,
                           "In %.0f of %.0f layers of attention tokens see %s %.0f tokens alone, and kernels are "
                           "assumed that leave out what the window hides%s.",
                           found.windowed, found.all, which, found.window,
                           config->cp > 1 ? "; ranks of a sequence share that work evenly, and still gather the keys "
                                            "and values of all its tokens"
                                          : "");
}

void pace_put_decoder_alone(pace_node *root, const pace_model *model) {
    if (model->text_alone)
        pace_node_sentence(root, true, "Its decoder alone is counted, not the network that reads images.");
}

void pace_put_model_note(pace_node *root, const pace_model *model, const pace_config *config) {
    if (model->recorded) return;
    pace_node_note(root, "%s: %s parameters.", pace_names_text(&model->names, model->name),
                   pace_show_count(pace_model_total(model, config).parameters).text);
    pace_put_decoder_alone(root, model);
    put_windows(root, model, config);
    if (pace_config_says_fp4(config))
        pace_node_sentence(
            root, false, "Products in 4 bits are taken for fp8, by which steps are described: the interval is wider.");
}
