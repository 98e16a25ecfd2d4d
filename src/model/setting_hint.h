/* What was meant by the name of a setting that neither a configuration nor a model has: tables of measurements know
 * many names for one thing (catalog/columns.yaml, `step`). */
#pragma once

#include "base/yaml.h"
#include "machine/catalog.h"

/* All borrowed from the catalogue, or static. */
typedef struct {
    const char *setting; /* what it is called here; NULL = not known */
    const char *value;   /* NULL = as it was given */
    const char *advice;  /* what to do instead: it is no setting; NULL = it is one */
} pace_setting_hint;

/** Finds what a name and its value mean. */
pace_status pace_setting_hint_find(pace_setting_hint *out, pace_catalog *catalog, const char *key,
                                   const char *value) PACE_MUST_CHECK;

/** Fails with PACE_E_USAGE and the hint; `parameters` are the model's own, NULL = not known yet. PACE_OK when there is
 * no hint. */
pace_status pace_setting_hint_give(const pace_setting_hint *hint, const pace_yaml_node *parameters, const char *key,
                                   const char *value) PACE_MUST_CHECK;
