#include "model/setting_hint.h"

#include "base/memory.h"
#include "base/text.h"
#include "model/config.h"

#include <stdio.h>
#include <string.h>

static bool is_refusal(const char *value) {
    static const char *const words[] = {"false", "no", "off", "none", "0"};
    return pace_word_number(words, PACE_COUNT(words), value) >= 0;
}

/* The column of tables about steps that has this name; NULL = none. */
static const char *column_of(const pace_yaml_node *step, const char *key) {
    PACE_YAML_EACH (names, step)
        for (size_t k = 0; pace_yaml_is_list(names) && k < pace_yaml_count(names); k++) {
            const char *name = pace_yaml_text(pace_yaml_item(names, k));
            if (name && strlen(key) > 1 && pace_same_letters(name, strlen(name), key)) return pace_yaml_key_of(names);
        }
    return NULL;
}

/* "bf16=true" says the value of a field instead of its name. */
static bool find_value(pace_setting_hint *out, const char *key, const char *value) {
    for (size_t i = 0; pace_config_key(i); i++) {
        pace_config config = pace_config_default();
        if (!pace_config_is_worded(i) || pace_config_set(&config, pace_config_key(i), key) != PACE_OK) continue;
        *out = (pace_setting_hint){pace_config_key(i), is_refusal(value) ? "" : key, NULL};
        return true;
    }
    return false;
}

pace_status pace_setting_hint_find(pace_setting_hint *out, pace_catalog *catalog, const char *key, const char *value) {
    const pace_yaml *columns;
    *out = (pace_setting_hint){0};
    PACE_TRY(pace_catalog_document(&columns, catalog, "columns.yaml"));
    const pace_yaml_node *step = pace_yaml_get(pace_yaml_root(columns), "step");
    const pace_yaml_node *settings = pace_yaml_get(step, "settings");
    if (find_value(out, key, value)) return PACE_OK;
    const char *column = column_of(step, key);
    const pace_yaml_node *here = pace_yaml_get(settings, column ? column : key);
    if (pace_yaml_is_map(here)) {
        const char *said = pace_yaml_text_of(here, "value");
        *out = (pace_setting_hint){pace_yaml_text_of(here, "setting"), is_refusal(value) ? "" : said, NULL};
    } else if (here) *out = (pace_setting_hint){NULL, NULL, pace_yaml_text(here)};
    else *out = (pace_setting_hint){column, NULL, NULL};
    return PACE_OK;
}

/* The name that a slip of the keys makes of another. */
static const char *nearest_to(const char *key, const pace_yaml_node *parameters) {
    const char *nearest = NULL;
    size_t most = strlen(key) < 6 ? 1 : strlen(key) / 3;
    for (size_t i = 0; pace_config_key(i) || i < pace_yaml_count(parameters); i++) {
        const char *names[] = {i == 0 ? "framework" : NULL, pace_config_key(i),
                               i < pace_yaml_count(parameters) ? pace_yaml_key(parameters, i) : NULL};
        for (size_t k = 0; k < PACE_COUNT(names); k++)
            if (names[k] && pace_word_edits(key, names[k]) <= most) {
                nearest = names[k];
                most = pace_word_edits(key, nearest);
            }
    }
    return nearest;
}

pace_status pace_setting_hint_give(const pace_setting_hint *hint, const pace_yaml_node *parameters, const char *key,
                                   const char *value) {
    char expected[320] = "";
    const char *setting = hint->setting;
    if (hint->advice) return pace_fail(PACE_E_USAGE, "set: no setting is called %.80s: %s", key, hint->advice);
    if (setting && !pace_config_has(setting) && !pace_yaml_get(parameters, setting)) setting = NULL;
    if (!setting) setting = nearest_to(key, parameters);
    if (!setting) return PACE_OK;
    const char *meant = hint->setting == setting && hint->value ? hint->value : value;
    if (!meant || !*meant)
        return pace_fail(PACE_E_USAGE, "set: no setting is called %.80s: did you mean %s?", key, setting);
    pace_config config = pace_config_default();
    if (pace_config_has(setting) && pace_config_set(&config, setting, meant) != PACE_OK) {
        snprintf(expected, sizeof expected, "%s", pace_message_marked());
        return pace_fail(PACE_E_USAGE, "set: no setting is called %.80s: did you mean %s? %s", key, setting, expected);
    }
    return pace_fail(PACE_E_USAGE, "set: no setting is called %.80s: did you mean %s=%.80s?", key, setting, meant);
}
