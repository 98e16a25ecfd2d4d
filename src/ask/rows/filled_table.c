#include "ask/rows/filled_table.h"

#include "ask/rows/column_finder.h"
#include "base/text.h"
#include "machine/catalog.h"

#include <string.h>

enum { MOST = 64, NAME = 64 };

/* One "COLUMN=VALUE", and the table's own column that means it; -1 = none. */
typedef struct {
    char name[NAME];
    const char *value;
    int column;
    size_t cells; /* that have the value */
} filling;

typedef struct {
    const pace_csv *csv;
    filling items[MOST];
    size_t count;
} fillings;

static pace_status read_word(filling *out, const char *word) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    if (length == 0 || length >= NAME || !equals[1])
        return pace_fail(PACE_E_USAGE, "set: expected a column and its value, such as precision=bf16, found \"%.80s\"",
                         word);
    memcpy(out->name, word, length);
    out->name[length] = '\0';
    out->value = equals + 1;
    return PACE_OK;
}

static bool lists(const pace_yaml_node *names, const char *name) {
    PACE_YAML_EACH (one, names)
        if (pace_yaml_text(one) && pace_strcasecmp(pace_yaml_text(one), name) == 0) return true;
    return false;
}

/* The column of this name, else one that the catalogue says means the same. */
static int find_column(const pace_csv *csv, const pace_yaml_node *section, const char *name) {
    int column = pace_csv_find_any_case(csv, name, strlen(name));
    PACE_YAML_EACH (names, section)
        if (column < 0 && pace_yaml_is_list(names) && lists(names, name)) column = pace_find_column(csv, names);
    return column;
}

static pace_status read_words(fillings *out, const pace_yaml_node *section, const pace_words *set) {
    if (set->count > MOST)
        return pace_fail(PACE_E_USAGE, "set: expected at most %d columns, found %zu", MOST, set->count);
    for (size_t i = 0; i < set->count; i++) {
        filling *one = &out->items[i];
        PACE_TRY(read_word(one, set->items[i]));
        one->column = find_column(out->csv, section, one->name);
        for (size_t k = 0; k < i; k++)
            if (pace_strcasecmp(out->items[k].name, one->name) == 0 ||
                (one->column >= 0 && out->items[k].column == one->column))
                return pace_fail(PACE_E_USAGE, "set: %s is set twice", one->name);
        out->count++;
    }
    return PACE_OK;
}

/* What an empty cell of a column of the table has. */
static const char *value_of(fillings *f, size_t column) {
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].column == (int)column) return f->items[i].cells++, f->items[i].value;
    return "";
}

static pace_status put_header(pace_text *out, const fillings *f) {
    for (size_t c = 0; c < f->csv->columns; c++) PACE_TRY(pace_csv_put_cell(out, pace_csv_name(f->csv, c)));
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].column < 0) PACE_TRY(pace_csv_put_cell(out, f->items[i].name));
    pace_csv_end_line(out);
    return PACE_OK;
}

static pace_status put_row(pace_text *out, fillings *f, size_t row) {
    for (size_t c = 0; c < f->csv->columns; c++) {
        const char *cell = pace_csv_cell(f->csv, row, c);
        PACE_TRY(pace_csv_put_cell(out, *cell ? cell : value_of(f, c)));
    }
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].column < 0) PACE_TRY(pace_csv_put_cell(out, f->items[i].value));
    pace_csv_end_line(out);
    return PACE_OK;
}

static pace_status fill(pace_text *out, fillings *f) {
    PACE_TRY(put_header(out, f));
    for (size_t row = 0; row < f->csv->rows; row++) PACE_TRY(put_row(out, f, row));
    for (size_t i = 0; i < f->count && f->csv->rows > 0; i++)
        if (f->items[i].column >= 0 && f->items[i].cells == 0)
            return pace_fail(PACE_E_USAGE, "set: %s has no effect: each row says its own in the column \"%.60s\"",
                             f->items[i].name, pace_csv_name(f->csv, (size_t)f->items[i].column));
    return PACE_OK;
}

static pace_status fill_from(pace_text *out, const pace_csv *csv, pace_catalog *catalog, const char *kind,
                             const pace_words *set) {
    const pace_yaml *names;
    fillings f = {.csv = csv};
    PACE_TRY(pace_catalog_document(&names, catalog, "columns.yaml"));
    PACE_TRY(read_words(&f, pace_yaml_get(pace_yaml_root(names), kind), set));
    return fill(out, &f);
}

pace_status pace_filled_table_read(const char *path, pace_catalog *catalog, const char *kind, const pace_words *set,
                                   pace_status (*read)(void *context, pace_input *input), void *context) {
    pace_text text = {0};
    pace_csv csv;
    PACE_TRY(pace_csv_open(&csv, path));
    pace_status status = fill_from(&text, &csv, catalog, kind, set);
    if (status == PACE_OK) status = pace_csv_read_written(&text, path, read, context);
    pace_csv_free(&csv);
    PACE_VEC_FREE(&text);
    return status;
}

pace_status pace_filled_table_check(const pace_csv *csv, const bool *looked, const pace_words *set) {
    for (size_t i = 0; i < set->count; i++) {
        size_t length = strcspn(set->items[i], "=");
        int column = pace_csv_find_any_case(csv, set->items[i], length);
        if (column >= 0 && !looked[column])
            return pace_fail(PACE_E_USAGE, "set: %.*s has no effect: no column of that name is read here", (int)length,
                             set->items[i]);
    }
    return PACE_OK;
}
