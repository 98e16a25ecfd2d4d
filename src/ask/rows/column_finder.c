#include "ask/rows/column_finder.h"
#include "base/text.h"

#include <string.h>

int pace_find_column_named(const pace_csv *csv, const char *name, size_t length) {
    int column = pace_csv_find_any_case(csv, name, length);
    for (size_t c = 0; column < 0 && c < csv->columns; c++)
        if (pace_same_letters(name, length, pace_csv_name(csv, c))) column = (int)c;
    return column;
}

/* What counts of a name, a part of it. */
typedef struct {
    const char *begin;
    size_t length;
} span;

/* "Number of layers", "Parameters (billion)": what is counted. */
static span bare_name(const char *text) {
    static const char *const before[] = {"numberof", "noof", "num", "total"};
    const char *end = text + strcspn(text, "([");
    for (size_t i = 0; i < PACE_COUNT(before); i++) {
        const char *rest = pace_behind_letters(text, end, before[i]);
        if (rest && pace_first_letter(rest, end) < end) text = rest;
    }
    return (span){text, (size_t)(end - text)};
}

static int find_bare(const pace_csv *csv, const char *text) {
    span wanted = bare_name(text);
    for (size_t c = 0; c < csv->columns; c++) {
        span name = bare_name(pace_csv_name(csv, c));
        if (pace_same_letters_of(name.begin, name.length, wanted.begin, wanted.length)) return (int)c;
    }
    return -1;
}

int pace_find_column_whole(const pace_csv *csv, const pace_yaml_node *names) {
    int column = -1;
    for (size_t i = 0; column < 0 && i < pace_yaml_count(names); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        if (name && *name) column = pace_find_column_named(csv, name, strlen(name));
    }
    return column;
}

int pace_find_column(const pace_csv *csv, const pace_yaml_node *names) {
    int column = pace_find_column_whole(csv, names);
    for (size_t i = 0; column < 0 && i < pace_yaml_count(names); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        if (name && strlen(name) >= 3) column = find_bare(csv, name);
    }
    return column;
}

/* Fills `out` with the column's unit, or none. False when what is behind the stem is no unit. */
static bool unit_behind(pace_unit_column *out, const char *rest, const pace_yaml *yaml, const pace_yaml_node *units) {
    out->unit = 0;
    out->word = "";
    for (size_t i = 0; *rest && i < pace_yaml_count(units); i++) {
        const char *word = pace_yaml_key(units, i);
        if (!pace_same_letters(word, strlen(word), rest)) continue;
        if (pace_yaml_number(&out->unit, yaml, pace_yaml_item(units, i)) != PACE_OK) return false;
        out->word = word;
        return true;
    }
    return !*rest;
}

pace_unit_column pace_find_unit_column(const pace_csv *csv, const pace_yaml_node *stems, const pace_yaml *yaml,
                                       const pace_yaml_node *units, size_t bare_from) {
    pace_unit_column out = {.column = -1};
    PACE_YAML_EACH (one, stems) {
        char stem[PACE_PLAIN_NAME], name[PACE_PLAIN_NAME];
        const char *text = pace_yaml_text(one);
        if (!text) continue;
        pace_plain_name(stem, text);
        size_t length = strlen(stem);
        for (size_t c = 0; c < csv->columns; c++) {
            pace_plain_name(name, pace_csv_name(csv, c));
            if (strncmp(name, stem, length) != 0 || (name[length] && name[length] != '_')) continue;
            if (!name[length] && length < bare_from) continue;
            if (!unit_behind(&out, name + length, yaml, units)) continue;
            out.column = (int)c;
            return out;
        }
    }
    return out;
}
