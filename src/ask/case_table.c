#include "ask/case_table.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    if (*word == '=') return strcasecmp(cell, word + 1) == 0;
    if (*word == '!') return strncasecmp(cell, word + 1, strlen(word + 1)) != 0;
    if (read_range(&low, &high, word)) return pace_csv_number(&value, cell) && value >= low && value <= high;
    return strncasecmp(cell, word, strlen(word)) == 0;
}

static pace_status column_named(size_t *out, const pace_csv *csv, const char *name) {
    int column = pace_csv_find_any_case(csv, name, strlen(name));
    if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", csv->name, name);
    *out = (size_t)column;
    return PACE_OK;
}

pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) {
    *out = true;
    for (size_t i = 0; i < pace_yaml_count(where); i++) {
        const pace_yaml_node *words = pace_yaml_item(where, i);
        size_t column = 0;
        bool found = false;
        PACE_TRY(column_named(&column, csv, pace_yaml_key(where, i)));
        for (size_t k = 0; k < pace_yaml_count(words); k++) {
            const char *word = pace_yaml_text(pace_yaml_item(words, k));
            found |= word && pace_case_says(pace_csv_cell(csv, row, column), word);
        }
        *out &= found;
    }
    return PACE_OK;
}

/* --- a table made of another -------------------------------------------------------------------------------------- */

typedef PACE_VEC(char) letters;

static pace_status put_cell(letters *out, const char *cell) {
    size_t length = strlen(cell);
    PACE_TRY(pace_grow(&out->items, &out->capacity, out->count + 2 * length + 4, 1));
    out->items[out->count++] = '"';
    for (; *cell; cell++) {
        if (*cell == '"') out->items[out->count++] = '"';
        out->items[out->count++] = *cell;
    }
    out->items[out->count++] = '"';
    out->items[out->count++] = ',';
    return PACE_OK;
}

/* The last comma becomes the line's end. */
static void end_line(letters *out) {
    if (out->count > 0) out->items[out->count - 1] = '\n';
}

static bool is_made(const pace_case *one, const char *name) {
    for (size_t i = 0; i < pace_yaml_count(one->columns); i++)
        if (strcasecmp(pace_yaml_key(one->columns, i), name) == 0) return true;
    return false;
}

static bool stays(const pace_case *one, const pace_csv *csv, size_t column) {
    return !one->only_columns && !is_made(one, pace_csv_name(csv, column));
}

/* A made column is "=TEXT", the name of the column it copies, or {of: COLUMN, words: {CELL: TEXT}, else: TEXT}, which
 * without `else` leaves other cells as they are. */
static pace_status made_cell(const char **out, const pace_csv *csv, size_t row, const pace_yaml_node *from) {
    const char *text = pace_yaml_text(from);
    size_t column = 0;
    if (text && *text == '=') {
        *out = text + 1;
        return PACE_OK;
    }
    const char *of = text ? text : pace_yaml_text(pace_yaml_get(from, "of"));
    PACE_TRY(column_named(&column, csv, of ? of : ""));
    *out = pace_csv_cell(csv, row, column);
    if (text) return PACE_OK;
    const char *word = pace_yaml_text(pace_yaml_get(pace_yaml_get(from, "words"), *out));
    const char *otherwise = pace_yaml_text(pace_yaml_get(from, "else"));
    if (word) *out = word;
    else if (otherwise) *out = otherwise;
    return PACE_OK;
}

static pace_status put_header(letters *out, const pace_case *one, const pace_csv *csv) {
    for (size_t c = 0; c < csv->columns; c++)
        if (stays(one, csv, c)) PACE_TRY(put_cell(out, pace_csv_name(csv, c)));
    for (size_t i = 0; i < pace_yaml_count(one->columns); i++) PACE_TRY(put_cell(out, pace_yaml_key(one->columns, i)));
    end_line(out);
    return PACE_OK;
}

static pace_status put_row(letters *out, const pace_case *one, const pace_csv *csv, size_t row) {
    for (size_t c = 0; c < csv->columns; c++)
        if (stays(one, csv, c)) PACE_TRY(put_cell(out, pace_csv_cell(csv, row, c)));
    for (size_t i = 0; i < pace_yaml_count(one->columns); i++) {
        const char *cell;
        PACE_TRY(made_cell(&cell, csv, row, pace_yaml_item(one->columns, i)));
        PACE_TRY(put_cell(out, cell));
    }
    end_line(out);
    return PACE_OK;
}

static pace_status make(letters *out, const pace_case *one, const pace_csv *csv) {
    size_t matched = 0, every = one->every > 1 ? one->every : 1;
    PACE_TRY(put_header(out, one, csv));
    for (size_t row = 0; row < csv->rows; row++) {
        bool kept;
        PACE_TRY(pace_case_matches(&kept, csv, row, one->rows));
        if (kept && matched++ % every == 0) PACE_TRY(put_row(out, one, csv, row));
    }
    return PACE_OK;
}

static pace_status read_made(const letters *text, const char *name,
                             pace_status (*read)(void *context, pace_input *input), void *context) {
    pace_input *input;
    PACE_TRY(pace_input_open_memory(&input, name, text->items, text->count));
    pace_status status = read(context, input);
    pace_input_free(input);
    return status;
}

static pace_status read_as_is(const char *path, pace_status (*read)(void *context, pace_input *input), void *context) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = read(context, input);
    pace_input_free(input);
    return status;
}

pace_status pace_case_table_read(const pace_case *one, const char *path,
                                 pace_status (*read)(void *context, pace_input *input), void *context) {
    letters text = {0};
    pace_csv csv;
    if (!one->rows && !one->columns && one->every <= 1) return read_as_is(path, read, context);
    PACE_TRY(pace_csv_open(&csv, path));
    pace_status status = make(&text, one, &csv);
    if (status == PACE_OK) status = read_made(&text, path, read, context);
    pace_csv_free(&csv);
    PACE_VEC_FREE(&text);
    return status;
}
