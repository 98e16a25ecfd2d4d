#include "insight/steps/stage_words.h"

#include "base/text.h"
#include "base/yaml_member.h"

#include <string.h>

typedef struct {
    const pace_yaml_node *equals, *starts, *contains; /* lists; NULL = none */
    uint8_t stage;
    bool annotations_only;
} stage_rule;

struct pace_stage_words {
    const pace_yaml *yaml;
    PACE_VEC(stage_rule) rules;
    const pace_yaml_node *steps, *parts, *parts_start, *once_a_step; /* lists */
};

static pace_status read_stage(uint8_t *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *member;
    PACE_TRY(pace_yaml_member(&member, yaml, node, "stage"));
    const char *text = pace_yaml_text(member);
    *out = PACE_STAGE_NONE;
    for (uint8_t s = 0; text && s < PACE_STAGES; s++)
        if (strcmp(text, pace_stage_names[s]) == 0) *out = s;
    if (*out == PACE_STAGE_NONE && !(text && strcmp(text, "none") == 0))
        return pace_yaml_fail(yaml, member, "expected a stage or \"none\", found \"%.40s\"", text ? text : "");
    return PACE_OK;
}

static pace_status read_texts(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *rule,
                              const char *key) {
    *out = pace_yaml_get(rule, key);
    if (*out && !pace_yaml_is_list(*out)) return pace_yaml_fail(yaml, *out, "expected a list of texts");
    for (size_t i = 0; *out && i < pace_yaml_count(*out); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(*out, i));
        if (!text || !*text) return pace_yaml_fail(yaml, pace_yaml_item(*out, i), "expected a part of a name");
    }
    return PACE_OK;
}

static pace_status read_rules(pace_stage_words *words) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, words->yaml, pace_yaml_root(words->yaml), "stages"));
    PACE_YAML_EACH (node, list) {
        const pace_yaml_node *of = pace_yaml_get(node, "of");
        stage_rule rule = {0};
        if (of && !(pace_yaml_text(of) && strcmp(pace_yaml_text(of), "annotation") == 0))
            return pace_yaml_fail(words->yaml, of, "\"of\" can be annotation");
        rule.annotations_only = of != NULL;
        PACE_TRY(read_stage(&rule.stage, words->yaml, node));
        PACE_TRY(read_texts(&rule.equals, words->yaml, node, "equals"));
        PACE_TRY(read_texts(&rule.starts, words->yaml, node, "starts"));
        PACE_TRY(read_texts(&rule.contains, words->yaml, node, "contains"));
        PACE_TRY(PACE_PUSH(&words->rules, rule));
    }
    return PACE_OK;
}

static pace_status read_marks(pace_stage_words *words) {
    const pace_yaml_node *marks;
    PACE_TRY(pace_yaml_member(&marks, words->yaml, pace_yaml_root(words->yaml), "marks"));
    PACE_TRY(read_texts(&words->steps, words->yaml, marks, "words"));
    PACE_TRY(read_texts(&words->parts, words->yaml, marks, "parts"));
    PACE_TRY(read_texts(&words->parts_start, words->yaml, marks, "parts_start"));
    return read_texts(&words->once_a_step, words->yaml, marks, "once_a_step");
}

pace_status pace_stage_words_load(pace_stage_words **out, pace_catalog *catalog) {
    pace_stage_words *words = pace_alloc(1, sizeof *words);
    if (!words) return PACE_E_MEMORY;
    pace_status status = pace_catalog_document(&words->yaml, catalog, "stages.yaml");
    if (status == PACE_OK) status = read_rules(words);
    if (status == PACE_OK) status = read_marks(words);
    return PACE_GIVE(out, words, status, pace_stage_words_free(words));
}

void pace_stage_words_free(pace_stage_words *words) {
    if (!words) return;
    PACE_VEC_FREE(&words->rules);
    pace_free(words);
}

static bool any_starts(const pace_yaml_node *list, const char *name) {
    for (size_t i = 0; list && i < pace_yaml_count(list); i++)
        if (pace_starts(name, pace_yaml_text(pace_yaml_item(list, i)))) return true;
    return false;
}

static bool any_occurs(const pace_yaml_node *list, const char *name) {
    for (size_t i = 0; list && i < pace_yaml_count(list); i++)
        if (strstr(name, pace_yaml_text(pace_yaml_item(list, i)))) return true;
    return false;
}

uint8_t pace_stage_word(const pace_stage_words *words, const char *name, bool annotation) {
    PACE_ITEMS (const stage_rule, rule, &words->rules) {
        if (rule->annotations_only && !annotation) continue;
        if (pace_text_listed(rule->equals, name) || any_starts(rule->starts, name) || any_occurs(rule->contains, name))
            return rule->stage;
    }
    return PACE_STAGE_NONE;
}

/* --- marks -------------------------------------------------------------------------------------------------------- */

/* Whether the letters at a place begin with a word, in either case. */
static bool begins_with(const char *at, const char *word) {
    while (*word && pace_lower(*at) == *word) at++, word++;
    return !*word;
}

/* Whether a name has a word of the list, or one that begins with it. */
static bool has_word(const char *name, const pace_yaml_node *list) {
    for (const char *at = name; list && *at; at++) {
        bool begins = pace_is_alpha(*at) && (at == name || !pace_is_alpha(at[-1]) || (*at < 'a' && at[-1] >= 'a'));
        for (size_t i = 0; begins && i < pace_yaml_count(list); i++)
            if (begins_with(at, pace_yaml_text(pace_yaml_item(list, i)))) return true;
    }
    return false;
}

bool pace_word_of_step(const pace_stage_words *words, const char *name) { return has_word(name, words->steps); }

bool pace_word_of_part(const pace_stage_words *words, const char *name) {
    return has_word(name, words->parts) || any_starts(words->parts_start, name);
}

bool pace_word_once_a_step(const pace_stage_words *words, const char *name) {
    return any_starts(words->once_a_step, name);
}
