#include "report/predict/model_note.h"
#include "report/show.h"

void pace_put_model_note(pace_node *root, const pace_model *model, const pace_config *config) {
    if (model->recorded) return;
    pace_node_note(root, "%s: %s parameters.", pace_names_text(&model->names, model->name),
                   pace_show_count(pace_model_total(model, config).parameters).text);
}
