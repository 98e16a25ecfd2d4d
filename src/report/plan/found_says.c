#include "report/predict/predict_parts.h"
#include "base/print.h"
#include "model/recorded.h"
#include "report/show.h"

static void say_kernels(pace_node *root, const pace_recorded *recorded) {
    if (recorded->kernels.count == 0)
        pace_node_sentence(root, false,
                           "The recording has no times of a known device: kernels are priced as any model's.");
    else
        pace_node_sentence(
            root, false,
            "Kernels are priced by the %zu that were timed on %s: the same operation takes what it took, others "
            "are corrected by those most like them.",
            recorded->kernels.count, recorded->device.name);
}

void pace_say_found(pace_report *report, const pace_model *model, const pace_config *config) {
    const pace_recorded *recorded = model->recorded;
    pace_node *root = pace_report_root(report);
    char tokens[64] = "", heads[64] = "";
    if (!recorded) return;
    const pace_found_layers *l = &recorded->layers;
    pace_model_totals totals = pace_model_total(model, config);
    if (l->vocab > 0) pace_snprintf(tokens, sizeof tokens, ", a vocabulary of %.0f", l->vocab);
    if (l->kv_heads != l->heads) pace_snprintf(heads, sizeof heads, " (%.0f of keys)", l->kv_heads);
    pace_node_sentence(root, false,
                       "The model is what the recording repeats: %.0f layers of width %.0f, %.0f heads%s, feed-forward "
                       "width %.0f%s, sequences of %.0f%s; %s parameters, %s.",
                       l->layers, l->hidden, l->heads, heads, l->ffn, l->gated ? " (gated)" : "", l->sequence, tokens,
                       pace_show_count(totals.parameters).text, pace_config_word(config, "precision"));
    if (l->vocab > 0 && l->outputs == l->vocab)
        pace_node_sentence(root, false,
                           "The weight of its output is taken as one of its own; --set tied=1 makes it the "
                           "table of the vocabulary.");
    say_kernels(root, recorded);
    if (l->left_out > 0)
        pace_report_warn(
            report, PACE_WARN_LAYERS_LEFT_OUT, NULL,
            "%zu of %zu operations that multiply or look up, %.1f %% of the forward arithmetic, have no place in "
            "the layers that repeat and were left out, such as %s",
            l->left_out, l->calls, 100 * l->left_out_share, l->largest);
}
