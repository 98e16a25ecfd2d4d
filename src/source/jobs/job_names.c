#include "source/jobs/job_names.h"
#include "base/text.h"

#include <string.h>

enum { LONGEST = PACE_JOB_NAME_LONGEST };

static size_t squeeze(char out[LONGEST], const char *text, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length && kept + 1 < LONGEST; i++)
        if (!strchr("-_/ .", text[i])) out[kept++] = pace_lower(text[i]);
    out[kept] = '\0';
    return kept;
}

static pace_status add_words(pace_job_known_names *out, const pace_yaml_node *list, bool alone) {
    PACE_YAML_EACH (one, list) {
        const char *name = pace_yaml_text(one);
        pace_job_word word = {.alone = alone};
        if (!name) continue;
        word.length = squeeze(word.text, name, strlen(name));
        PACE_TRY(PACE_PUSH(&out->words, word));
    }
    return PACE_OK;
}

static pace_status add_units(pace_job_known_names *out, const pace_yaml *yaml, const char *kind) {
    const pace_yaml_node *units = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "units"), kind);
    PACE_YAML_EACH (one, units) {
        pace_job_word unit = {.name = pace_yaml_key_of(one)};
        PACE_TRY(pace_yaml_number(&unit.times, yaml, one));
        unit.length = strlen(unit.name);
        PACE_TRY(PACE_PUSH(&out->units, unit));
    }
    return PACE_OK;
}

static pace_status read_all(pace_job_known_names *out, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "names");
    for (int role = 0; role < PACE_JOB_ROLES; role++) {
        const pace_yaml_node *entry = pace_yaml_get(list, pace_job_role_name(role));
        const char *kind = pace_yaml_text_of(entry, "unit");
        PACE_TRY(add_words(out, pace_yaml_get(entry, "words"), true));
        PACE_TRY(add_words(out, pace_yaml_get(entry, "with_unit"), false));
        if (kind) PACE_TRY(add_units(out, yaml, kind));
        out->first_word[role + 1] = out->words.count;
        out->first_unit[role + 1] = out->units.count;
    }
    return PACE_OK;
}

static void free_kept(void *value) {
    pace_job_known_names *kept = value;
    PACE_VEC_FREE(&kept->words, &kept->units);
}

static pace_status make_kept(void *value, pace_catalog *catalog) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "job_columns.yaml"));
    return read_all(value, yaml);
}

pace_status pace_job_names_load(pace_job_names *out, pace_catalog *catalog) {
    static const char *const files[] = {"job_columns.yaml", NULL};
    static const pace_catalog_kind kind = {sizeof(pace_job_known_names), make_kept, free_kept, files};
    const void *kept;
    PACE_TRY(pace_catalog_kept(&kept, catalog, &kind));
    out->known = kept;
    return PACE_OK;
}

/* Letters and digits in lower case, up to what stands in brackets, which is the unit. */
typedef struct {
    char word[LONGEST], unit[LONGEST];
    size_t length;
} header_words;

static header_words split(const char *header) {
    header_words words = {0};
    size_t stem = strcspn(header, "([");
    const char *inside = header + stem + (header[stem] != '\0');
    words.length = squeeze(words.word, header, stem);
    squeeze(words.unit, inside, strcspn(inside, ")]"));
    return words;
}

/* Whether a role has such a word, also one that counts only with a unit. */
static bool has_word(const pace_job_names *names, int role, bool with_unit, const char *text, size_t length) {
    const pace_job_known_names *known = names->known;
    for (size_t i = known->first_word[role]; i < known->first_word[role + 1]; i++) {
        const pace_job_word *word = &known->words.items[i];
        if (word->length == length && (word->alone || with_unit) && memcmp(word->text, text, length) == 0) return true;
    }
    return false;
}

/* The longest unit that leaves a name: "gb", not "b". */
static const pace_job_word *unit_of(const pace_job_names *names, int role, const header_words *header) {
    const pace_job_word *longest = NULL;
    bool bracket = *header->unit != '\0';
    const pace_job_known_names *known = names->known;
    for (size_t i = known->first_unit[role]; i < known->first_unit[role + 1]; i++) {
        const pace_job_word *unit = &known->units.items[i];
        size_t stem = bracket || unit->length > header->length ? header->length : header->length - unit->length;
        if (longest && unit->length <= longest->length) continue;
        if (strcmp(bracket ? header->unit : header->word + stem, unit->name) != 0) continue;
        if (has_word(names, role, true, header->word, stem)) longest = unit;
    }
    return longest;
}

int pace_job_name_find(double *factor, const char **unit, const pace_job_names *names, const char *header) {
    header_words words = split(header);
    *factor = 1;
    if (unit) *unit = "";
    if (strlen(header) >= LONGEST) return PACE_JOB_NO_ROLE;
    for (int role = 0; role < PACE_JOB_ROLES; role++) {
        if (!*words.unit && has_word(names, role, false, words.word, words.length)) return role;
        const pace_job_word *found = unit_of(names, role, &words);
        if (!found) continue;
        *factor = found->times;
        if (unit) *unit = found->name;
        return role;
    }
    return PACE_JOB_NO_ROLE;
}
