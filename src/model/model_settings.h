/* "KEY=VALUE" words about a model: fields of its configuration, and parameters of its own. */
#pragma once

#include "base/words.h"
#include "base/texts.h"
#include "model/model_read.h"

typedef struct {
    PACE_VEC(pace_model_setting) items; /* parameters; their keys lie in texts */
    pace_texts texts;
} pace_model_settings;

/** Sets the configuration's fields in `config` and gathers the rest, "framework=NAME" aside. PACE_E_USAGE says what was
 * expected, or meant. */
pace_status pace_model_settings_read(pace_model_settings *out, pace_config *config, pace_catalog *catalog,
                                     const pace_words *set) PACE_MUST_CHECK;
/** Whether one more "KEY=VALUE" may follow those `given`: a key that is set twice would be the last in silence. */
pace_status pace_settings_check_once(const char *const *given, size_t count, const char *text) PACE_MUST_CHECK;
/** The framework that "framework=NAME" words ask for, as it stands in the last of them; NULL without. */
const char *pace_framework_asked(const pace_words *set);
/** Whether "KEY=VALUE" words set one of the keys, which end with NULL. */
bool pace_settings_name(const pace_words *set, const char *const *keys);
/** Whether they say how a step is shared out over ranks. */
bool pace_settings_name_sharing(const pace_words *set);
/** Whether they say how many replicas there are. */
bool pace_settings_name_replicas(const pace_words *set);
/** Names of settings that only a step that trains has; NULL behind the last. */
extern const char *const pace_settings_of_training[];
/** Whether they say how many samples a step has. */
bool pace_settings_name_batch(const pace_words *set);
void pace_model_settings_free(pace_model_settings *settings);
