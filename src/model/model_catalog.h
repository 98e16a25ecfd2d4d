/* The models of the catalogue by name, and a user's by file. */
#ifndef PACE_MODEL_MODEL_CATALOG_H
#define PACE_MODEL_MODEL_CATALOG_H

#include "model/model_read.h"

/** Whether two names are one however written: letters and digits count, whatever the case, and points between digits,
 * up to a parenthesis. "GPT3-13B (ours)" is gpt3_13b, but not gpt3_1.3b. */
bool pace_model_same_name(const char *a, const char *b);

/** What counts of a name, in small letters: "GPT3-13B (ours)" is "gpt313b". Cut to `size` with its end. */
void pace_model_plain_name(char *out, size_t size, const char *name);

/** Loads a model: a name of the catalogue ("resnet50"), however written, a YAML file (its first model), or
 * "FILE.yaml:NAME"; a name that others use (model_names.h) where it is none of these. `settings` replace the model's
 * parameters ("layers", "hidden", …). PACE_E_MISSING names the closest when the catalogue has no such model. */
pace_status pace_model_load(pace_model *out, const char *name, const pace_model_setting *settings,
                            size_t setting_count) PACE_MUST_CHECK;

/** Calls `visit` with the document and the name of every model of the catalogue until it fails or says stop. */
typedef pace_status (*pace_description_visit)(void *context, const pace_yaml *yaml, const char *name, bool *stop);
pace_status pace_model_each_description(pace_description_visit visit, void *context) PACE_MUST_CHECK;

/** Calls `visit` with every model of the catalogue, file by file, until it fails. */
typedef pace_status (*pace_model_visit)(void *context, const pace_model *model);
pace_status pace_model_each(pace_model_visit visit, void *context) PACE_MUST_CHECK;

#endif
