#include "ask/plan/launcher_read.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/print.h"
#include "base/yaml_member.h"
#include "base/text.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20, WORD = 128, TEXT = 2 * WORD + 8 };

typedef struct {
    pace_launcher_settings *out;
    const pace_yaml *yaml;
    const pace_yaml_node *launchers;
    const char *path;
    char section[WORD];
} reader;

static pace_status put(reader *r, const char *key, const char *value, const char *written) {
    pace_launcher_settings *s = r->out;
    char text[TEXT];
    size_t length = strlen(key);
    if (strcmp(key, "layers_of_chunk") == 0) {
        (void)pace_number_parse(&s->layers_of_chunk, value); /* was parsed before */
        return PACE_OK;
    }
    pace_snprintf(text, sizeof text, "%s=%s", key, value);
    for (size_t i = 0; i < s->settings.count; i++)
        if (strncmp(s->settings.items[i], key, length) == 0 && s->settings.items[i][length] == '=') {
            pace_free(s->settings.items[i]); /* the last counts */
            pace_free(s->written.items[i]);
            s->settings.items[i] = s->settings.items[--s->settings.count];
            s->written.items[i] = s->written.items[--s->written.count];
            break;
        }
    PACE_TRY(pace_texts_add(&s->settings, text));
    return pace_texts_add(&s->written, written);
}

/* A value that is a number, or that the catalogue translates. "-1" is "as the program chooses": nothing is said. */
static pace_status take_value(reader *r, const pace_yaml_node *meaning, const char *value, const char *written) {
    const char *key = pace_yaml_key(meaning, 0);
    const pace_yaml_node *how = pace_yaml_item(meaning, 0);
    double number;
    if (!key) return PACE_OK;
    if (pace_yaml_is_map(how)) {
        const char *means = pace_yaml_text_of(how, value);
        return means ? put(r, key, means, written) : PACE_OK;
    }
    if (!pace_number_parse(&number, value))
        return pace_fail(PACE_E_INPUT, "%s: %s: expected a number, found \"%.60s\"", r->path, key, value);
    return number >= 0 ? put(r, key, value, written) : PACE_OK;
}

/* Finds a flag or a key of a section; whether it takes a value. */
static const pace_yaml_node *find(reader *r, const char *name) {
    for (size_t i = 0; i < pace_yaml_count(r->launchers); i++) {
        const pace_yaml_node *launcher = pace_yaml_item(r->launchers, i);
        const pace_yaml_node *meaning = pace_yaml_get(pace_yaml_get(launcher, "reads"), name);
        if (!meaning) continue;
        const char *framework = pace_yaml_text(pace_yaml_item(pace_yaml_get(launcher, "frameworks"), 0));
        r->out->launcher = pace_yaml_text_of(launcher, "name");
        pace_snprintf(r->out->framework, sizeof r->out->framework, "framework=%.40s", framework ? framework : "");
        return meaning;
    }
    return NULL;
}

static bool takes_none(const pace_yaml_node *meaning) { return pace_yaml_get(pace_yaml_item(meaning, 0), "") != NULL; }

static char *trim(char *text) {
    while (pace_is_space(*text)) text++;
    for (size_t n = strlen(text); n > 0 && pace_is_space(text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

static pace_status read_pair(reader *r, char *line, char *equals) {
    char name[2 * WORD], written[TEXT];
    *equals = '\0';
    char *key = trim(line), *value = trim(equals + 1);
    value[strcspn(value, "#")] = '\0';
    value = trim(value);
    if (*value == '"' || *value == '\'') value++, value[strcspn(value, "\"'")] = '\0';
    pace_snprintf(name, sizeof name, "%.100s%s%.100s", r->section, *r->section ? "." : "", key);
    const pace_yaml_node *meaning = find(r, name);
    if (!meaning) return PACE_OK;
    pace_snprintf(written, sizeof written, "%.100s = %.100s", name, value);
    return take_value(r, meaning, value, written);
}

static pace_status read_flags(reader *r, char *line) {
    char *rest = line, *word;
    while ((word = strsep(&rest, " \t\\\"'()=")) != NULL) {
        char written[TEXT], *value = NULL;
        if (strncmp(word, "--", 2) != 0) continue;
        const pace_yaml_node *meaning = find(r, word);
        if (!meaning) continue;
        while (!takes_none(meaning) && rest && (!value || !*value)) value = strsep(&rest, " \t\\\"'()=");
        if (!takes_none(meaning) && (!value || *value == '$'))
            return pace_fail(PACE_E_INPUT, "%s: %s: expected a value, found \"%.60s\"", r->path, word,
                             value ? value : "nothing");
        pace_snprintf(written, sizeof written, "%.100s%s%.100s", word, value ? " " : "", value ? value : "");
        PACE_TRY(take_value(r, meaning, value ? value : "", written));
    }
    return PACE_OK;
}

static pace_status read_line(reader *r, char *line) {
    char *start = trim(line), *equals;
    if (*start == '#' || !*start) return PACE_OK;
    if (strstr(start, "--")) return read_flags(r, start);
    if (*start == '[') {
        pace_snprintf(r->section, sizeof r->section, "%.*s", (int)strcspn(start + 1, "]"), start + 1);
        return PACE_OK;
    }
    equals = strchr(start, '=');
    return equals ? read_pair(r, start, equals) : PACE_OK;
}

static pace_status read_text(reader *r, char *text) {
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        PACE_TRY(read_line(r, line));
    }
    if (r->out->settings.count > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT,
                     "%s: expected torchtitan's TOML or arguments of Megatron-LM, found no setting of either", r->path);
}

pace_status pace_launcher_read(pace_launcher_settings *out, pace_catalog *catalog, const char *path) {
    reader r = {.out = out, .path = path};
    pace_input *input;
    char *text = NULL;
    size_t length;
    PACE_TRY(pace_catalog_document(&r.yaml, catalog, "launchers.yaml"));
    PACE_TRY(pace_yaml_member(&r.launchers, r.yaml, pace_yaml_root(r.yaml), "launchers"));
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_input_read_all(&text, &length, input, MOST_BYTES);
    pace_input_free(input);
    if (status == PACE_OK && strlen(text) != length)
        status = pace_fail(PACE_E_INPUT, "%s: expected text, found bytes of 0", path);
    if (status == PACE_OK) status = read_text(&r, text);
    pace_free(text);
    return status;
}

void pace_launcher_settings_free(pace_launcher_settings *settings) {
    pace_texts_free(&settings->settings);
    pace_texts_free(&settings->written);
}
