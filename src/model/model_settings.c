#include "model/model_settings.h"

#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* "float8" is a word of tables for fp8 (columns.yaml, says), "16" one for fp16_bits. Else the value itself. */
static pace_status take_word_of_rows(char *out, size_t size, pace_catalog *catalog, const char *key,
                                     const char *value) {
    const pace_yaml *columns;
    pace_snprintf(out, size, "%s", value);
    PACE_TRY(pace_catalog_document(&columns, catalog, "columns.yaml"));
    const pace_yaml_node *step = pace_yaml_get(pace_yaml_root(columns), "step");
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(step, "says"), key);
    PACE_YAML_EACH (words, all)
        PACE_YAML_EACH (entry, words) {
            const char *word = pace_yaml_text(entry), *said = pace_yaml_key_of(words);
            if (!word || !pace_same_word(word, value)) continue;
            pace_snprintf(out, size, "%.*s", (int)strcspn(said, "_"), said);
            return PACE_OK;
        }
    return PACE_OK;
}

/* predict has an option "precision" too: the message names the one that was given. */
static pace_status set_field(pace_config *config, pace_catalog *catalog, const char *key, const char *value) {
    char why[400], word[64];
    pace_status status = pace_config_set(config, key, value);
    if (status == PACE_OK) return PACE_OK;
    snprintf(why, sizeof why, "%s", pace_message_marked());
    if (strcmp(key, "precision") == 0) {
        PACE_TRY(take_word_of_rows(word, sizeof word, catalog, key, value));
        if (pace_config_set(config, key, word) == PACE_OK) return PACE_OK;
    }
    return pace_fail(status, "set: %s", why);
}

static pace_status read_word(pace_model_settings *settings, pace_config *config, pace_catalog *catalog,
                             const char *word) {
    PACE_TRY(pace_texts_add(&settings->texts, word));
    char *key = settings->texts.items[settings->texts.count - 1];
    char *equals = strchr(key, '=');
    if (!equals || equals == key || !equals[1])
        return pace_fail(PACE_E_USAGE, "set: expected KEY=VALUE, found '%.80s'", word);
    *equals = '\0';
    if (pace_config_has(key)) return set_field(config, catalog, key, equals + 1);
    pace_model_setting setting = {.key = key, .text = equals + 1};
    PACE_TRY(pace_setting_hint_find(&setting.hint, catalog, key, setting.text));
    if (pace_number_parse(&setting.value, setting.text)) return PACE_PUSH(&settings->items, setting);
    PACE_TRY(pace_setting_hint_give(&setting.hint, NULL, key, setting.text));
    return pace_fail(PACE_E_USAGE, "set: %.80s is no setting that takes a word: expected a number, found '%.80s'", key,
                     setting.text);
}

static bool names_framework(const char *word) { return strncmp(word, "framework=", 10) == 0 && word[10]; }

const char *pace_framework_asked(const pace_words *set) {
    const char *asked = NULL;
    for (size_t i = 0; set && i < set->count; i++)
        if (names_framework(set->items[i])) asked = set->items[i] + 10;
    return asked;
}

pace_status pace_model_settings_read(pace_model_settings *out, pace_config *config, pace_catalog *catalog,
                                     const pace_words *set) {
    pace_model_settings settings = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; set && status == PACE_OK && i < set->count; i++)
        if (!names_framework(set->items[i])) status = read_word(&settings, config, catalog, set->items[i]);
    return PACE_GIVE(out, settings, status, pace_model_settings_free(&settings));
}

void pace_model_settings_free(pace_model_settings *settings) {
    pace_texts_free(&settings->texts);
    PACE_VEC_FREE(&settings->items);
}

bool pace_settings_name(const pace_words *set, const char *const *keys) {
    for (size_t i = 0; set && i < set->count; i++)
        for (size_t k = 0; keys[k]; k++) {
            size_t length = strlen(keys[k]);
            if (strncmp(set->items[i], keys[k], length) == 0 && set->items[i][length] == '=') return true;
        }
    return false;
}

const char *const pace_settings_of_training[] = {
    "optimizer", "update",        "recompute",    "zero_stage",   "zero_group",        "keep_gradients",
    "read_loss", "bucket_bytes",  "frozen",       "lora",         "lora_layers",       "quantized",
    "offload",   "cross_entropy", "defer_logits", "moment_bytes", "recompute_modules", "recompute_layers",
    NULL};

bool pace_settings_name_sharing(const pace_words *set) {
    static const char *const keys[] = {"dp", "tp", "pp", "vpp", "cp", "ep", "zero_stage", "zero_group", NULL};
    return pace_settings_name(set, keys);
}

bool pace_settings_name_replicas(const pace_words *set) {
    static const char *const keys[] = {"dp", NULL};
    return pace_settings_name(set, keys);
}

bool pace_settings_name_batch(const pace_words *set) {
    static const char *const keys[] = {"micro_batch", "global_batch", NULL};
    return pace_settings_name(set, keys);
}

pace_status pace_settings_check_once(const char *const *given, size_t count, const char *text) {
    size_t key = strcspn(text, "=");
    for (size_t i = 0; text[key] && i < count; i++)
        if (strncmp(given[i], text, key + 1) == 0)
            return pace_fail(PACE_E_USAGE, "set: %.*s is set twice: '%.80s' and '%.80s'", (int)key, text, given[i],
                             text);
    return PACE_OK;
}
