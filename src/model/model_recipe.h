/* How a model's training is usually run, from the "recipe" of its YAML. */
#pragma once

#include "base/yaml.h"
#include "model/model.h"

/** PACE_E_INPUT with the place for what no recipe has. */
pace_status pace_model_recipe_read(pace_model *model, const pace_yaml *yaml) PACE_MUST_CHECK;
