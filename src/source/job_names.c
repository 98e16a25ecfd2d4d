#include "source/job_names.h"

#include "machine/catalog.h"

#include <ctype.h>
#include <string.h>

pace_status pace_job_names_load(pace_job_names *out, pace_catalog *catalog) {
    pace_job_names names;
    PACE_TRY(pace_catalog_document(&names.yaml, catalog, "job_columns.yaml"));
    *out = names;
    return PACE_OK;
}

enum { LONGEST = 96 };

/* Letters and digits in lower case, up to what stands in brackets, which is the unit. */
typedef struct {
    char word[LONGEST], unit[LONGEST];
} header_words;

static void squeeze(char out[LONGEST], const char *text, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length && kept + 1 < LONGEST; i++)
        if (!strchr("-_/ .", text[i])) out[kept++] = (char)tolower((unsigned char)text[i]);
    out[kept] = '\0';
}

static header_words split(const char *header) {
    header_words words = {0};
    size_t stem = strcspn(header, "([");
    const char *inside = header + stem + (header[stem] != '\0');
    squeeze(words.word, header, stem);
    squeeze(words.unit, inside, strcspn(inside, ")]"));
    return words;
}

static bool is_word(const pace_yaml_node *words, const char *text, size_t length) {
    char word[LONGEST];
    for (size_t i = 0; i < pace_yaml_count(words); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(words, i));
        if (!name) continue;
        squeeze(word, name, strlen(name));
        if (strlen(word) == length && memcmp(word, text, length) == 0) return true;
    }
    return false;
}

static bool is_name(const pace_yaml_node *entry, const char *text, size_t length) {
    return is_word(pace_yaml_get(entry, "words"), text, length) ||
           is_word(pace_yaml_get(entry, "with_unit"), text, length);
}

/* The longest unit that leaves a name: "gb", not "b". */
static bool has_unit(double *factor, const char **unit, const pace_yaml *yaml, const pace_yaml_node *entry,
                     const header_words *header) {
    const char *kind = pace_yaml_text_of(entry, "unit");
    const pace_yaml_node *units = kind ? pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "units"), kind) : NULL;
    size_t length = strlen(header->word), longest = 0;
    bool bracket = *header->unit != '\0';
    for (size_t i = 0; i < pace_yaml_count(units); i++) {
        const char *name = pace_yaml_key(units, i);
        size_t tail = strlen(name), stem = bracket || tail > length ? length : length - tail;
        double value;
        if (strcmp(bracket ? header->unit : header->word + stem, name) != 0 || tail <= longest) continue;
        if (!is_name(entry, header->word, stem) || pace_yaml_number(&value, yaml, pace_yaml_item(units, i)) != PACE_OK)
            continue;
        *factor = value;
        *unit = name;
        longest = tail;
    }
    return longest > 0;
}

static bool matches(double *factor, const char **unit, const pace_yaml *yaml, const pace_yaml_node *entry,
                    const header_words *header) {
    *factor = 1;
    *unit = "";
    return (!*header->unit && is_word(pace_yaml_get(entry, "words"), header->word, strlen(header->word))) ||
           has_unit(factor, unit, yaml, entry, header);
}

int pace_job_name_find(double *factor, const char **unit, const pace_job_names *names, const char *header) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(names->yaml), "names");
    header_words words = split(header);
    const char *found;
    *factor = 1;
    if (strlen(header) >= LONGEST) return PACE_JOB_NO_ROLE;
    for (int role = 0; role < PACE_JOB_ROLES; role++) {
        const pace_yaml_node *entry = pace_yaml_get(list, pace_job_role_name(role));
        if (!entry || !matches(factor, &found, names->yaml, entry, &words)) continue;
        if (unit) *unit = found;
        return role;
    }
    return PACE_JOB_NO_ROLE;
}
