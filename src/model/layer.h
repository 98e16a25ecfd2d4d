/* Layers from their kind, their options and their inputs. */
#pragma once

#include "model/model.h"

/** The rule of a kind's word, or NULL. */
const pace_layer_rule *pace_layer_rule_find(const char *word);

/** The option a key means for the kind; PACE_OPTIONS when it has none of that name. */
pace_layer_option pace_layer_rule_option(const pace_layer_rule *rule, const char *key);
/** The option a bare value means ("linear: 1000"); PACE_OPTIONS when the kind takes none. */
pace_layer_option pace_layer_rule_main(const pace_layer_rule *rule);
/** Whether the option is a pair (height, width) of which one number sets both. */
bool pace_layer_option_is_pair(pace_layer_option option);
/** Whether the option may be given as a list of a number for each table. */
bool pace_layer_rule_lists(const pace_layer_rule *rule, pace_layer_option option);

/** A layer of the kind with its default options; options that must be given are NAN. */
pace_layer pace_layer_make(const pace_layer_rule *rule);

enum { PACE_LAYER_INPUTS = 64 }; /* a layer has at most */

/** Infers a layer and puts it at the model's end. `rule` NULL: an input, whose shape is given. PACE_E_LIMIT beyond
 * 100,000 layers. */
pace_status pace_model_append(pace_model *model, pace_layer layer, const pace_layer_rule *rule, const char *name,
                              const uint32_t *inputs, size_t count, const double *rows) PACE_MUST_CHECK;
