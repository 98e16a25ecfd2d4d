#include "ask/validate/case_table.h"
#include "base/text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "100..200": its ends, infinite where none is said. */
static bool read_range(double *low, double *high, const char *word) {
    const char *dots = strstr(word, "..");
    char text[32];
    if (!dots || (size_t)(dots - word) >= sizeof text) return false;
    memcpy(text, word, (size_t)(dots - word));
    text[dots - word] = '\0';
    *low = -INFINITY, *high = INFINITY;
    return (!*text || pace_csv_number(low, text)) && (!dots[2] || pace_csv_number(high, dots + 2));
}

bool pace_case_says(const char *cell, const char *word) {
    double low, high, value;
    if (!*word) return !*cell;
    if (*word == '!') return !pace_case_says(cell, word + 1);
    if (*word == '=') return pace_strcasecmp(cell, word + 1) == 0;
    if (strchr(word, '*')) return fnmatch(word, cell, 0) == 0;
    if (read_range(&low, &high, word)) return pace_csv_number(&value, cell) && value >= low && value <= high;
    return pace_strncasecmp(cell, word, strlen(word)) == 0;
}

static pace_status column_named(size_t *out, const pace_csv *csv, const char *name) {
    int column = pace_csv_find_any_case(csv, name, strlen(name));
    if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", csv->name, name);
    *out = (size_t)column;
    return PACE_OK;
}

pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) {
    *out = true;
    PACE_YAML_EACH (words, where) {
        size_t column = 0;
        bool found = false;
        PACE_TRY(column_named(&column, csv, pace_yaml_key_of(words)));
        PACE_YAML_EACH (one, words) {
            const char *word = pace_yaml_text(one);
            found |= word && pace_case_says(pace_csv_cell(csv, row, column), word);
        }
        *out &= found;
    }
    return PACE_OK;
}

/* --- a table made of another -------------------------------------------------------------------------------------- */

static bool is_made(const pace_case *one, const char *name) {
    PACE_YAML_EACH (entry, one->columns)
        if (pace_strcasecmp(pace_yaml_key_of(entry), name) == 0) return true;
    return false;
}

static bool stays(const pace_case *one, const pace_csv *csv, size_t column) {
    return !one->only_columns && !is_made(one, pace_csv_name(csv, column));
}

const char *pace_case_word_for(const pace_yaml_node *words, const char *cell) {
    PACE_YAML_EACH (one, words) {
        const char *key = pace_yaml_key_of(one);
        if (strchr(key, '*') ? fnmatch(key, cell, 0) == 0 : strcmp(key, cell) == 0) return pace_yaml_text(one);
    }
    return NULL;
}

enum { LONGEST = 1000 };

/* The cells of the columns of a text such as "system|model", with "|" between them. */
static pace_status cells_of(char out[LONGEST], const pace_csv *csv, size_t row, const char *names) {
    size_t used = 0;
    *out = '\0';
    for (const char *at = names; *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|')) {
        char name[64];
        size_t column = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
        bool is_file = strcmp(name, "@file") == 0;
        if (!is_file) PACE_TRY(column_named(&column, csv, name));
        const char *cell = is_file ? csv->name : pace_csv_cell(csv, row, column);
        used += (size_t)snprintf(out + used, LONGEST - used, "%s%s", at == names ? "" : "|", cell);
        if (used >= LONGEST) return pace_fail(PACE_E_LIMIT, "%s: a cell is too long", csv->name);
    }
    return PACE_OK;
}

/* A made column is "=TEXT", the name of the column it copies, or {of: COLUMN|COLUMN, words: {CELL|CELL: TEXT}, else:
 * TEXT}, which without `else` leaves other cells as they are. */
static pace_status put_made(pace_text *out, const pace_csv *csv, size_t row, const pace_yaml_node *from) {
    char cells[LONGEST];
    const char *text = pace_yaml_text(from), *of = text ? text : pace_yaml_text_of(from, "of");
    if (text && *text == '=') return pace_csv_put_cell(out, text + 1);
    PACE_TRY(cells_of(cells, csv, row, of ? of : ""));
    const char *word = pace_case_word_for(pace_yaml_get(from, "words"), cells);
    const char *otherwise = pace_yaml_text_of(from, "else");
    return pace_csv_put_cell(out, word ? word : otherwise ? otherwise : cells);
}

static pace_status is_kept(bool *out, const pace_case *one, const pace_csv *csv, size_t row) {
    char cells[LONGEST];
    PACE_TRY(pace_case_matches(out, csv, row, one->rows));
    if (!*out || !one->group) return PACE_OK;
    PACE_TRY(cells_of(cells, csv, row, one->apart));
    *out = strcmp(cells, one->group) == 0;
    return PACE_OK;
}

static pace_status put_header(pace_text *out, const pace_case *one, const pace_csv *csv) {
    for (size_t c = 0; c < csv->columns; c++)
        if (stays(one, csv, c)) PACE_TRY(pace_csv_put_cell(out, pace_csv_name(csv, c)));
    PACE_YAML_EACH (entry, one->columns) PACE_TRY(pace_csv_put_cell(out, pace_yaml_key_of(entry)));
    pace_csv_end_line(out);
    return PACE_OK;
}

static pace_status put_row(pace_text *out, const pace_case *one, const pace_csv *csv, size_t row) {
    for (size_t c = 0; c < csv->columns; c++)
        if (stays(one, csv, c)) PACE_TRY(pace_csv_put_cell(out, pace_csv_cell(csv, row, c)));
    PACE_YAML_EACH (entry, one->columns) PACE_TRY(put_made(out, csv, row, entry));
    pace_csv_end_line(out);
    return PACE_OK;
}

static pace_status make(pace_text *out, const pace_case *one, const pace_csv *csv) {
    size_t matched = 0, every = one->every > 1 ? one->every : 1;
    PACE_TRY(put_header(out, one, csv));
    for (size_t row = 0; row < csv->rows; row++) {
        bool kept;
        PACE_TRY(is_kept(&kept, one, csv, row));
        if (kept && matched++ % every == 0) PACE_TRY(put_row(out, one, csv, row));
    }
    return PACE_OK;
}

/* All combinations of the cells of `over`, the last column's changing fastest. */
static pace_status put_combinations(pace_text *out, const pace_yaml_node *over) {
    size_t count = 1;
    PACE_YAML_EACH (one, over) {
        count *= pace_yaml_count(one);
        PACE_TRY(pace_csv_put_cell(out, pace_yaml_key_of(one)));
    }
    pace_csv_end_line(out);
    for (size_t row = 0; row < count; row++) {
        size_t apart = count;
        PACE_YAML_EACH (cells, over) {
            apart /= pace_yaml_count(cells);
            const char *cell = pace_yaml_text(pace_yaml_item(cells, row / apart % pace_yaml_count(cells)));
            PACE_TRY(pace_csv_put_cell(out, cell ? cell : ""));
        }
        pace_csv_end_line(out);
    }
    return PACE_OK;
}

static pace_status read_csv(void *context, pace_input *input) { return pace_csv_read(context, input); }

static pace_status open_table(pace_csv *out, const pace_case *one, const char *path) {
    pace_text text = {0};
    if (!one->over) return pace_csv_open(out, path);
    pace_status status = put_combinations(&text, one->over);
    if (status == PACE_OK) status = pace_csv_read_written(&text, path, read_csv, out);
    PACE_VEC_FREE(&text);
    return status;
}

pace_status pace_case_table_read(const pace_case *one, const char *path,
                                 pace_status (*read)(void *context, pace_input *input), void *context) {
    pace_text text = {0};
    pace_csv csv;
    if (!one->over && !one->rows && !one->columns && !one->group && one->every <= 1)
        return pace_input_read_file(context, path, read);
    PACE_TRY(open_table(&csv, one, path));
    pace_status status = make(&text, one, &csv);
    if (status == PACE_OK) status = pace_csv_read_written(&text, path, read, context);
    pace_csv_free(&csv);
    PACE_VEC_FREE(&text);
    return status;
}

pace_status pace_case_table_make(pace_csv *out, const pace_case *one, const char *path) {
    return pace_case_table_read(one, path, read_csv, out);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static pace_status add_group(pace_case_groups *groups, const char *cells) {
    for (size_t i = 0; i < groups->items.count; i++)
        if (strcmp(groups->items.items[i], cells) == 0) return PACE_OK;
    char *copy = pace_copy_text(cells, strlen(cells));
    if (!copy) return PACE_E_MEMORY;
    return PACE_KEEP(&groups->items, copy, pace_free(copy));
}

static pace_status add_groups(pace_case_groups *groups, const pace_case *one, const pace_csv *csv) {
    for (size_t row = 0; row < csv->rows; row++) {
        char cells[LONGEST];
        bool kept;
        PACE_TRY(pace_case_matches(&kept, csv, row, one->rows));
        if (!kept) continue;
        PACE_TRY(cells_of(cells, csv, row, one->apart));
        PACE_TRY(add_group(groups, cells));
    }
    return PACE_OK;
}

pace_status pace_case_groups_add(pace_case_groups *groups, const pace_case *one, const char *path) {
    pace_csv csv;
    PACE_TRY(pace_csv_open(&csv, path));
    pace_status status = add_groups(groups, one, &csv);
    pace_csv_free(&csv);
    return status;
}

void pace_case_groups_free(pace_case_groups *groups) {
    for (size_t i = 0; i < groups->items.count; i++) pace_free(groups->items.items[i]);
    PACE_VEC_FREE(&groups->items);
}
