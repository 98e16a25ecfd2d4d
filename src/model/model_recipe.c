#include "model/model_recipe.h"

#include "base/text.h"
#include "model/config.h"

#include <string.h>

pace_status pace_model_recipe_read(pace_model *model, const pace_yaml *yaml) {
    const pace_yaml_node *recipe = pace_yaml_get(pace_yaml_root(yaml), "recipe");
    PACE_YAML_EACH (one, recipe) {
        const char *key = pace_yaml_key_of(one), *word = pace_yaml_text(one);
        pace_config config = pace_config_default();
        if (!key || !word || !pace_span_listed(key, strlen(key), "input indices read_loss pair_indices attention") ||
            pace_config_set(&config, key, word) != PACE_OK)
            return pace_yaml_fail(
                yaml, recipe,
                "expected input, indices, read_loss, pair_indices and attention, as a configuration has them");
        if (config.input == PACE_INPUT_PINNED) model->pinned = true;
        if (config.indices == PACE_INDICES_INT32) model->short_indices = true;
        if (config.read_loss != PACE_LOSS_USUAL) model->read_loss = config.read_loss;
        if (config.attention == PACE_ATTENTION_MATH) model->forms_scores = true;
        if (config.pair_indices != PACE_PAIRS_USUAL) model->pair_indices = config.pair_indices;
    }
    return PACE_OK;
}
