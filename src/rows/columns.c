#include "rows/columns.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const pace_yaml_node *member(const pace_columns *columns, const char *key) {
    return pace_yaml_get(columns->kernel, key);
}

static bool listed(const pace_yaml_node *list, const char *word) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(list, i));
        if (text && strcasecmp(text, word) == 0) return true;
    }
    return false;
}

static int column_named(const pace_csv *csv, const char *name, size_t length) {
    for (size_t i = 0; i < csv->columns; i++)
        if (strlen(pace_csv_name(csv, i)) == length && strncasecmp(pace_csv_name(csv, i), name, length) == 0)
            return (int)i;
    return -1;
}

static int column_of(const pace_columns *columns, const pace_csv *csv, const char *key) {
    const pace_yaml_node *names = member(columns, key);
    for (size_t i = 0; i < pace_yaml_count(names); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        int column = name ? column_named(csv, name, strlen(name)) : -1;
        if (column >= 0) return column;
    }
    return -1;
}

/* "b*h": all its factors are columns. */
static bool find_factors(pace_size_column *out, const pace_csv *csv, const char *name) {
    pace_size_column found = {{-1, -1, -1}, out->fallback};
    for (int i = 0; *name && i < PACE_COLUMN_FACTORS; i++) {
        size_t length = strcspn(name, "*");
        found.column[i] = column_named(csv, name, length);
        if (found.column[i] < 0) return false;
        name += length + (name[length] == '*');
    }
    *out = found;
    return true;
}

static pace_status find_size(pace_size_column *out, const pace_columns *columns, const pace_csv *csv,
                             const pace_yaml_node *entry, const char *key) {
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_get(entry, "names"), key);
    const pace_yaml_node *fallback = pace_yaml_get(pace_yaml_get(entry, "defaults"), key);
    if (fallback) PACE_TRY(pace_yaml_number(&out->fallback, columns->yaml, fallback));
    for (size_t i = 0; i < pace_yaml_count(names); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        if (name && find_factors(out, csv, name)) break;
    }
    return PACE_OK;
}

static pace_status find_layout(pace_layout *out, const pace_columns *columns, const pace_csv *csv,
                               const pace_yaml_node *entry) {
    const char *family = pace_yaml_text(pace_yaml_get(entry, "family"));
    unsigned count;
    out->family = family ? pace_op_family_find(family) : PACE_OP_FAMILIES;
    if (out->family == PACE_OP_FAMILIES)
        return pace_fail(PACE_E_INPUT, "%s: expected a family", pace_yaml_place(columns->yaml, entry));
    const char *const *names = pace_op_size_names(out->family, &count);
    out->by_op = pace_yaml_get(entry, "by_op") != NULL;
    out->missing = -1;
    for (int i = 0; i < PACE_OP_SIZES; i++) out->size[i] = (pace_size_column){{-1, -1, -1}, NAN};
    for (unsigned i = 0; i < count; i++) {
        PACE_TRY(find_size(&out->size[i], columns, csv, entry, names[i]));
        if (out->size[i].column[0] < 0 && isnan(out->size[i].fallback) && out->missing < 0) out->missing = (int)i;
    }
    return PACE_OK;
}

static bool pass_of_stem(pace_pass *out, const pace_columns *columns, const char *stem) {
    const pace_yaml_node *stems = member(columns, "measured");
    for (int pass = 0; pass < PACE_PASSES; pass++) {
        *out = (pace_pass)pass;
        if (listed(pace_yaml_get(stems, pace_pass_names[pass]), stem)) return true;
    }
    *out = PACE_PASSES;
    return listed(pace_yaml_get(stems, "row"), stem);
}

/* "latency_us": a stem that is measured and a unit. */
static pace_status find_measured(pace_columns *columns, const pace_csv *csv, size_t column) {
    const char *name = pace_csv_name(csv, column), *under = strrchr(name, '_');
    char stem[48], unit[8] = {0};
    if (!under || (size_t)(under - name) >= sizeof stem || strlen(under + 1) >= sizeof unit) return PACE_OK;
    snprintf(stem, sizeof stem, "%.*s", (int)(under - name), name);
    for (size_t i = 0; i < sizeof unit; i++) {
        char c = under[1 + i];
        unit[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c == '\0') break;
    }
    const pace_yaml_node *scale = pace_yaml_get(member(columns, "units"), unit);
    pace_measured_column found = {.column = (int)column};
    if (!scale || !pass_of_stem(&found.pass, columns, stem) || columns->measured_count == PACE_MEASURED_MOST)
        return PACE_OK;
    PACE_TRY(pace_yaml_number(&found.unit_s, columns->yaml, scale));
    memcpy(found.unit, unit, sizeof unit);
    columns->measured[columns->measured_count++] = found;
    return PACE_OK;
}

static pace_status find_all(pace_columns *columns, const pace_csv *csv) {
    struct {
        const char *key;
        int *column;
    } words[] = {{"device", &columns->device},  {"source", &columns->source}, {"op", &columns->op},
                 {"dtype", &columns->dtype},    {"pass", &columns->pass},     {"trans_a", &columns->trans_a},
                 {"trans_b", &columns->trans_b}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i].column = column_of(columns, csv, words[i].key);
    const pace_yaml_node *sizes = member(columns, "sizes");
    if (!pace_yaml_is_list(sizes) || pace_yaml_count(sizes) > PACE_OP_FAMILIES)
        return pace_fail(PACE_E_INPUT, "%s: expected a list \"sizes\" of families",
                         pace_yaml_place(columns->yaml, pace_yaml_root(columns->yaml)));
    for (size_t i = 0; i < pace_yaml_count(sizes); i++) {
        PACE_TRY(find_layout(&columns->layouts[i], columns, csv, pace_yaml_item(sizes, i)));
        columns->layout_count++;
    }
    for (size_t i = 0; i < csv->columns; i++) PACE_TRY(find_measured(columns, csv, i));
    return PACE_OK;
}

pace_status pace_columns_find(pace_columns *out, const pace_csv *csv) {
    pace_columns columns = {0};
    PACE_TRY(pace_catalog_load(&columns.yaml, "columns.yaml"));
    columns.kernel = pace_yaml_get(pace_yaml_root(columns.yaml), "kernel");
    pace_status status = find_all(&columns, csv);
    if (status != PACE_OK) pace_columns_free(&columns);
    else *out = columns;
    return status;
}

void pace_columns_free(pace_columns *columns) {
    pace_yaml_free(columns->yaml);
    *columns = (pace_columns){0};
}

const pace_layout *pace_columns_layout(const pace_columns *columns, pace_op_family family) {
    for (unsigned i = 0; i < columns->layout_count; i++) {
        const pace_layout *layout = &columns->layouts[i];
        if (family == PACE_OP_UNKNOWN ? layout->missing < 0 && !layout->by_op : layout->family == family) return layout;
    }
    return NULL;
}

static bool uses(const pace_layout *layout, size_t column) {
    for (int i = 0; i < PACE_OP_SIZES; i++)
        for (int k = 0; k < PACE_COLUMN_FACTORS; k++)
            if (layout->size[i].column[k] == (int)column) return true;
    return false;
}

/* The closest of the columns that mean nothing yet. */
static const char *closest_column(const pace_csv *csv, const pace_layout *layout, const char *word) {
    const char *best = NULL;
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = pace_csv_name(csv, i);
        if (!uses(layout, i) && (!best || pace_word_edits(word, name) < pace_word_edits(word, best))) best = name;
    }
    return best ? best : pace_csv_name(csv, 0);
}

/* Without a family: the one that the most columns of the table speak for. */
static const pace_layout *likeliest(const pace_columns *columns) {
    const pace_layout *best = NULL;
    double most = 0;
    for (unsigned i = 0; i < columns->layout_count; i++) {
        unsigned count;
        double there = 0;
        if (columns->layouts[i].by_op) continue;
        pace_op_size_names(columns->layouts[i].family, &count);
        for (unsigned k = 0; k < count; k++) there += columns->layouts[i].size[k].column[0] >= 0;
        double share = there * there / count;
        if (share > most) most = share, best = &columns->layouts[i];
    }
    return best;
}

pace_status pace_columns_fail(const pace_columns *columns, const pace_csv *csv, pace_op_family family) {
    const pace_layout *layout = family == PACE_OP_UNKNOWN ? likeliest(columns) : pace_columns_layout(columns, family);
    if (!layout || layout->missing < 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: no column names the sizes of an operation: expected columns such as m, n, k (or \"op\")",
                         csv->name);
    unsigned count;
    const char *name = pace_op_size_names(layout->family, &count)[layout->missing];
    return pace_fail(PACE_E_INPUT, "%s: no column \"%s\" for family %s; the closest name is \"%.60s\"", csv->name, name,
                     pace_op_family_name(layout->family), closest_column(csv, layout, name));
}

bool pace_columns_dtype(pace_op *op, const pace_columns *columns, const char *word) {
    const pace_yaml_node *list = member(columns, "dtypes");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *entry = pace_yaml_item(list, i);
        if (!listed(pace_yaml_get(entry, "names"), word)) continue;
        const char *precision = pace_yaml_text(pace_yaml_get(entry, "precision"));
        double bytes;
        for (int p = 0; precision && p < PACE_PRECISIONS; p++) {
            if (strcmp(pace_precision_key((pace_precision)p), precision) != 0) continue;
            if (pace_yaml_number(&bytes, columns->yaml, pace_yaml_get(entry, "bytes")) != PACE_OK) return false;
            op->precision = (pace_precision)p;
            op->element_bytes = bytes >= 1 && bytes <= 16 ? (int)bytes : 4;
            return true;
        }
    }
    return false;
}

static void number_of(double *out, const pace_columns *columns, const pace_yaml_node *entry, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    if (node && pace_yaml_number(out, columns->yaml, node) != PACE_OK) *out = 0;
}

bool pace_columns_op(pace_op *op, const pace_columns *columns, const char *word) {
    const pace_yaml_node *list = member(columns, "ops");
    if (strncasecmp(word, "aten::", 6) == 0) word += 6;
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *entry = pace_yaml_item(list, i);
        if (!listed(pace_yaml_get(entry, "names"), word)) continue;
        const char *family = pace_yaml_text(pace_yaml_get(entry, "family"));
        const char *kind = pace_yaml_text(pace_yaml_get(entry, "kind"));
        op->family = family ? pace_op_family_find(family) : PACE_OP_FAMILIES;
        if (op->family == PACE_OP_FAMILIES) return false;
        snprintf(op->kind, sizeof op->kind, "%s", kind ? kind : "");
        if (op->family == PACE_OP_ELEMENTWISE) {
            op->size[1] = op->size[2] = 1;
            number_of(&op->size[1], columns, entry, "inputs");
            number_of(&op->size[2], columns, entry, "outputs");
            if (!(op->size[2] > 0)) op->size[2] = 1;
        }
        return true;
    }
    op->family = pace_op_family_find(word);
    return op->family != PACE_OP_FAMILIES && op->family != PACE_OP_UNKNOWN;
}

bool pace_columns_pass(pace_op *op, const pace_columns *columns, const char *word) {
    const pace_yaml_node *passes = member(columns, "passes");
    for (int pass = 0; pass < PACE_PASSES; pass++) {
        if (!listed(pace_yaml_get(passes, pace_pass_names[pass]), word)) continue;
        op->pass = (pace_pass)pass;
        return true;
    }
    return false;
}
