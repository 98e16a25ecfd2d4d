#include "ask/rows/column_words.h"

#include "base/memory.h"
#include "base/yaml_member.h"

#include <stdio.h>
#include <string.h>

void pace_name_words_cut(pace_name_words *out, const char *name) {
    char *rest = NULL;
    out->count = 0;
    pace_plain_name(out->text, name);
    for (char *at = strtok_r(out->text, "_", &rest); at; at = strtok_r(NULL, "_", &rest)) out->word[out->count++] = at;
}

enum { SHORTEST = 3 }; /* letters of a name that words may lead to: "training (s)" is no sequence's length */

/* The word that stands for `word`, which need not end at `length`; "" for one of the idle ones. */
static const char *word_for(const pace_column_words *w, char *word, bool whole) {
    if (!whole && pace_word_listed(w->idle, word)) return "";
    PACE_YAML_EACH (entry, w->words)
        if (pace_word_listed(entry, word)) return pace_yaml_key_of(entry);
    return word;
}

static void append(char out[PACE_PLAIN_NAME], const char *word) {
    size_t used = strlen(out);
    if (*word) snprintf(out + used, PACE_PLAIN_NAME - used, "%s%s", used ? "_" : "", word);
}

/* "Images/sec" -> "samples_per_s". `whole`: idle words count, as in the catalogue's own names. */
static void plain(char out[PACE_PLAIN_NAME], const pace_column_words *w, const char *name, bool whole) {
    char part[PACE_PLAIN_NAME], words[PACE_PLAIN_NAME];
    *out = '\0';
    while (*name) {
        size_t length = strcspn(name, "/");
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        pace_plain_name(words, part);
        for (char *word = words, *end; *word; word = end) {
            size_t size = strcspn(word, "_");
            end = word + size + (word[size] == '_');
            word[size] = '\0';
            append(out, word_for(w, word, whole));
        }
        name += length;
        if (*name) append(out, "per"), name++;
    }
}

const char *pace_cell_number(double *out, const char *cell) {
    char digits[64] = "";
    size_t used = 0;
    bool parted = false;
    for (; used + 1 < sizeof digits && (pace_is_digit(*cell) || *cell == '.' || *cell == ','); cell++)
        if (*cell != ',') digits[used++] = *cell;
        else if (strspn(cell + 1, "0123456789") != 3 || strspn(digits, "0") > 0 || (!parted && used > 3)) return NULL;
        else parted = true; /* "12,5", "0,125" and "1234,567" are no numbers of thousands */
    digits[used] = '\0';
    if (used == 0 || !pace_csv_number(out, digits) || !(*out > 0)) return NULL;
    double times = *cell == 'k' || *cell == 'K' ? 1e3 : *cell == 'M' ? 1e6 : 1;
    bool scaled = times > 1 && !pace_is_alpha(cell[1]);
    if (scaled) *out *= times, cell++;
    return cell + strspn(cell, " ");
}

/* What stands behind the number of the first cell that is not empty. Does not count as looking at it. */
static const char *unit_of_cells(const pace_csv *csv, size_t column) {
    for (size_t row = 0; row < csv->rows; row++) {
        const char *cell = csv->text.items + csv->cells.items[(row + 1) * csv->columns + column];
        double value;
        const char *unit = *cell ? pace_cell_number(&value, cell) : NULL;
        if (*cell) return unit ? unit : "";
    }
    return "";
}

pace_status pace_column_words_open(pace_column_words *out, const pace_yaml_node *section, const pace_csv *csv,
                                   const bool *taken) {
    pace_column_words w = {.words = pace_yaml_get(section, "words"), .idle = pace_yaml_get(section, "idle_words")};
    if (!PACE_MAKE(w.names, csv->columns + 1)) return PACE_E_MEMORY;
    w.columns = csv->columns;
    for (size_t c = 0; c < csv->columns; c++) {
        if (taken[c] || !*pace_csv_name(csv, c)) continue;
        plain(w.names[c], &w, pace_csv_name(csv, c), false);
        if (!*w.names[c]) plain(w.names[c], &w, unit_of_cells(csv, c), false);
        w.left += *w.names[c] != '\0';
    }
    *out = w;
    return PACE_OK;
}

void pace_column_words_free(pace_column_words *words) {
    pace_free(words->names);
    words->names = NULL;
}

/* What counts of a name of the list, "" of none; false where the list ends. */
static bool wanted_at(char wanted[PACE_PLAIN_NAME], const pace_column_words *w, const pace_yaml_node *names, size_t i) {
    const char *name = pace_yaml_text(pace_yaml_item(names, i));
    plain(wanted, w, name ? name : "", true);
    return i < pace_yaml_count(names);
}

static int take(pace_column_words *w, size_t column) {
    *w->names[column] = '\0';
    w->left--;
    return (int)column;
}

bool pace_column_words_mean(const pace_yaml_node *section, const char *text, const pace_yaml_node *names) {
    const pace_column_words w = {.words = pace_yaml_get(section, "words"),
                                 .idle = pace_yaml_get(section, "idle_words")};
    char said[PACE_PLAIN_NAME], wanted[PACE_PLAIN_NAME];
    plain(said, &w, text, false);
    for (size_t i = 0; *said && wanted_at(wanted, &w, names, i); i++)
        if (strcmp(said, wanted) == 0) return true;
    return false;
}

int pace_column_words_find(pace_column_words *w, const pace_yaml_node *names) {
    char wanted[PACE_PLAIN_NAME];
    for (size_t i = 0; w->left && wanted_at(wanted, w, names, i); i++)
        for (size_t c = 0; strlen(wanted) >= SHORTEST && c < w->columns; c++)
            if (strcmp(w->names[c], wanted) == 0) return take(w, c);
    return -1;
}

/* Whether a unit follows the stem. */
static bool unit_follows(size_t *unit, const char *name, const char *stem, const pace_yaml_node *units) {
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0 || name[length] != '_') return false;
    for (*unit = 0; *unit < pace_yaml_count(units); ++*unit)
        if (strcmp(pace_yaml_key(units, *unit), name + length + 1) == 0) return true;
    return false;
}

int pace_column_words_find_unit(size_t *unit, pace_column_words *w, const pace_yaml_node *names,
                                const pace_yaml_node *units) {
    char stem[PACE_PLAIN_NAME];
    for (size_t i = 0; w->left && wanted_at(stem, w, names, i); i++)
        for (size_t c = 0; strlen(stem) >= SHORTEST && c < w->columns; c++)
            if (unit_follows(unit, w->names[c], stem, units)) return take(w, c);
    return -1;
}

bool pace_says_no_window(const char *cell) {
    static const char *const none[] = {"none", "full", "no", "false", "global", "inf", "na", "nan", "null", "0"};
    bool says = strcmp(cell, "-") == 0 || strcmp(cell, "-1") == 0;
    for (size_t i = 0; i < PACE_COUNT(none); i++) says |= pace_same_word(cell, none[i]);
    return says;
}
