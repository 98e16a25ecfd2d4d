/*
 * Low-rank adapters (LoRA, Hu et al. 2021): beside the products that they adapt stand two small ones, which alone are
 * trained.
 */
#pragma once

#include "model/model.h"

/** A model with adapters of rank `lora` beside the products that `lora_layers` names; all else is frozen. A layer `x`
 * is followed by `x.lora_A` (from its input to the rank), `x.lora_B` (to its output), both without bias, their scale
 * and their sum with x. Tensor parallelism splits the one of them that has the side that it splits x by. PACE_E_USAGE
 * where a model has no such product. */
pace_status pace_model_adapt(pace_model *out, const pace_model *model, const pace_config *config) PACE_MUST_CHECK;

/** The same in place, where a configuration has adapters. */
pace_status pace_model_take_adapters(pace_model *model, const pace_config *config) PACE_MUST_CHECK;
