/* The models of the catalogue by name, and a user's by file. */
#pragma once

#include "model/model_files.h"
#include "model/model_read.h"

/** Loads a model: a name of the catalogue ("resnet50"), however written, a YAML file (its first model),
 * "FILE.yaml:NAME", or a configuration of Hugging Face's hub ("config.json", hub_config.h); a name that others use
 * (model_names.h) where it is none of these. `settings` replace the model's parameters ("layers", "hidden", …).
 * PACE_E_MISSING names the closest when the catalogue has no such model. */
pace_status pace_model_load(pace_model *out, pace_catalog *catalog, const char *name,
                            const pace_model_setting *settings, size_t setting_count) PACE_MUST_CHECK;

/** How much of "FILE.yaml:NAME" or "FILE.yml" is the file's path; 0 = it names none. */
size_t pace_model_path_length(const char *name);

/** Calls `visit` with every model of the catalogue, file by file, until it fails. */
typedef pace_status (*pace_model_visit)(void *context, const pace_model *model);
pace_status pace_model_each(pace_catalog *catalog, pace_model_visit visit, void *context) PACE_MUST_CHECK;
