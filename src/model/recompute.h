/* Which forward work runs again before backward, and what therefore is not kept: all of a block, attention's inside,
 * all but what a framework selects, or modules by name (Megatron Core's --recompute-modules). */
#pragma once

#include "model/model.h"

/** What of a layer's forward pass runs again before its block's backward pass; ACTIVATION: that between the products of
 * experts. */
typedef enum { PACE_AGAIN_NOTHING, PACE_AGAIN_ACTIVATION, PACE_AGAIN_ALL } pace_again;

/** `products`: how many of the block came before, 0 at its first layer; for frameworks that select among them. */
pace_again pace_layer_again(const pace_model *model, uint32_t layer, const pace_config *config, unsigned *products);

/** Whether the framework's selective recomputation (torchtitan's, JAX's) forms a layer's block anew, but for what it
 * selects: outputs of attention and of every product or every second one, not of experts. */
bool pace_layer_is_of_selection(const pace_layer *layer, const pace_config *config);
bool pace_layer_is_selected(const pace_layer *layer, const pace_config *config, unsigned *products);

/** Whether a module that runs again forms a layer's output for those behind it, so that nothing of it is kept. The
 * product behind attention keeps what it reads. */
bool pace_layer_is_dropped(const pace_model *model, uint32_t layer, const pace_config *config);

/** Those modules (bits of pace_recompute_module) that the model has no layers of. */
unsigned pace_model_lacks_modules(const pace_model *model, unsigned modules);
