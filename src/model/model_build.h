/* Models from descriptions under a user's settings. */
#pragma once

#include "model/model_read.h"

/** As pace_model_build(). A description that holds without the settings is not at fault with them: PACE_E_USAGE names
 * the settings then, where that has PACE_E_INPUT. */
pace_status pace_model_build_as_set(pace_model *out, const pace_yaml *yaml, const char *name,
                                    const pace_model_setting *settings, size_t setting_count) PACE_MUST_CHECK;
