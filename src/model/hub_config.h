/* A model's configuration as Hugging Face's hub keeps it (config.json), as a model of the catalogue with its sizes:
 * catalog/hub_configs.yaml says which. */
#pragma once

#include "machine/catalog.h"
#include "model/model_read.h"

typedef struct {
    const char *model; /* of the catalogue; borrowed from it, as the settings' keys are */
    PACE_VEC(pace_model_setting) settings;
    bool text_alone; /* of a network of images and words, whose decoder is read */
} pace_hub_config;

/** Whether a document is such a configuration. */
bool pace_hub_config_is(const pace_yaml *document);

/** Reads it. PACE_E_INPUT, with the place, for a type that the catalogue does not describe, for a member that makes the
 * model another than its type's, and for a size that is missing or no number. Free `out`, which begins as zeros, after
 * a failure too. */
pace_status pace_hub_config_read(pace_hub_config *out, pace_catalog *catalog,
                                 const pace_yaml *document) PACE_MUST_CHECK;
void pace_hub_config_free(pace_hub_config *config);
