/* A model by whatever names it: the catalogue, a YAML description, an ONNX graph. */
#pragma once

#include "model/model_catalog.h"

/** pace_model_load(), and "FILE.onnx" (pace_onnx_read()), which takes no settings: PACE_E_USAGE. */
pace_status pace_model_open(pace_model *out, pace_catalog *catalog, const char *name,
                            const pace_model_setting *settings, size_t setting_count) PACE_MUST_CHECK;

/** Whether a name is a file's that holds a model: it ends with ".onnx", ".yaml" or ".yaml:NAME". */
bool pace_model_is_file(const char *name);
