#include "ask/rows/column_finder.h"
#include "base/decimal.h"
#include "base/text.h"
#include "ask/rows/measured_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const pace_yaml_node *member(const pace_columns *columns, const char *key) {
    return pace_yaml_get(columns->kernel, key);
}

static int column_of(const pace_columns *columns, const pace_csv *csv, const char *key) {
    return pace_find_column(csv, member(columns, key));
}

/* "@batch": the first of the words of that name that is a column. */
static int column_or_word(const pace_columns *columns, const pace_csv *csv, const char *name, size_t length) {
    char key[32];
    if (*name != '@') return pace_find_column_named(csv, name, length);
    if (length > sizeof key - 1) return -1;
    snprintf(key, sizeof key, "%.*s", (int)(length - 1), name + 1);
    return pace_find_column(csv, pace_yaml_get(member(columns, "words"), key));
}

/* "b*h", "isl+step", "size_mb*1e6": all its factors are columns or numbers. */
static bool find_source(pace_size_source *out, const pace_columns *columns, const pace_csv *csv, const char *name) {
    pace_size_source found = {.scale = 1};
    found.sum = strchr(name, '+') != NULL;
    while (*name) {
        size_t length = strcspn(name, "*+");
        double factor;
        if (pace_is_digit(*name) && pace_number_read(&factor, name)) found.scale *= factor;
        else {
            if (found.count == PACE_COLUMN_FACTORS) return false;
            int column = column_or_word(columns, csv, name, length);
            if (column < 0) return false;
            found.column[found.count++] = column;
        }
        name += length + (name[length] != '\0');
    }
    *out = found;
    return found.count > 0;
}

static pace_status find_size(pace_size_column *out, const pace_columns *columns, const pace_csv *csv,
                             const pace_yaml_node *entry, const char *key) {
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_get(entry, "names"), key);
    const pace_yaml_node *fallback = pace_yaml_get(pace_yaml_get(entry, "defaults"), key);
    *out = (pace_size_column){.fallback = NAN};
    if (fallback) PACE_TRY(pace_yaml_number(&out->fallback, columns->yaml, fallback));
    for (size_t i = 0; i < pace_yaml_count(names) && out->count < PACE_COLUMN_CHOICES; i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        if (!name || !*name) continue;
        /* Of a word every column counts: tables of several operations name the same size twice. */
        const pace_yaml_node *words =
            *name == '@' && !strpbrk(name, "*+") ? pace_yaml_get(member(columns, "words"), name + 1) : NULL;
        if (!words) {
            if (find_source(&out->from[out->count], columns, csv, name)) out->count++;
            continue;
        }
        for (size_t w = 0; w < pace_yaml_count(words) && out->count < PACE_COLUMN_CHOICES; w++) {
            const char *word = pace_yaml_text(pace_yaml_item(words, w));
            if (word && find_source(&out->from[out->count], columns, csv, word)) out->count++;
        }
    }
    return PACE_OK;
}

static pace_status find_layout(pace_layout *out, const pace_columns *columns, const pace_csv *csv,
                               const pace_yaml_node *entry) {
    const char *family = pace_yaml_text_of(entry, "family");
    const char *compound = pace_yaml_text_of(entry, "compound");
    out->family = family ? pace_op_family_find(family) : PACE_OP_FAMILIES;
    out->compound = compound ? pace_compound_find(compound) : PACE_COMPOUND_NONE;
    if (out->compound != PACE_COMPOUND_NONE) {
        out->family = PACE_OP_OTHER;
        out->names = pace_compound_size_names(out->compound, &out->count);
    } else if (out->family != PACE_OP_FAMILIES) out->names = pace_op_size_names(out->family, &out->count);
    else return pace_yaml_fail(columns->yaml, entry, "expected a family or a compound");
    out->by_op = pace_yaml_get(entry, "by_op") != NULL;
    out->in_bytes = pace_yaml_get(entry, "in_bytes") != NULL;
    out->missing = -1;
    bool excluded = pace_find_column_whole(csv, pace_yaml_get(entry, "without")) >= 0;
    for (unsigned i = 0; i < out->count; i++) {
        PACE_TRY(find_size(&out->size[i], columns, csv, entry, out->names[i]));
        if (excluded) out->size[i] = (pace_size_column){.fallback = NAN};
        if (out->size[i].count == 0 && isnan(out->size[i].fallback) && out->missing < 0) out->missing = (int)i;
    }
    return PACE_OK;
}

/* "mnk", "MxNxK", "(M, N, K)": a column whose name is the letters of its numbers. */
static bool is_order(char out[8], const char *name) {
    static const char *const orders[] = {"mnk", "mkn", "nmk", "nkm", "kmn", "knm", "nk", "kn", "bmnk", "bmkn", "nchw"};
    char letters[8] = {0};
    size_t n = 0;
    for (; *name; name++) {
        if (!pace_is_alnum(*name) || ((*name | 0x20) == 'x' && n > 0)) continue;
        if (n == sizeof letters - 1) return false;
        letters[n++] = (char)(*name | 0x20);
    }
    for (size_t i = 0; i < PACE_COUNT(orders); i++)
        if (strcmp(orders[i], letters) == 0) {
            memcpy(out, letters, sizeof letters);
            return true;
        }
    return false;
}

/* "best_mxnxk", "Shape (B, M, N, K)": the last word is an order, or what stands in brackets. */
static void find_shapes(pace_columns *columns, const pace_csv *csv) {
    const pace_yaml_node *names = member(columns, "shape");
    for (size_t c = 0; c < csv->columns && columns->shape_count < PACE_SHAPE_COLUMNS; c++) {
        char plain[PACE_PLAIN_NAME], order[8] = "";
        pace_plain_name(plain, pace_csv_name(csv, c));
        const char *name = pace_csv_name(csv, c), *last = strrchr(name, '_'), *within = strchr(name, '(');
        bool ordered =
            is_order(order, name) || (last && is_order(order, last + 1)) || (within && is_order(order, within));
        if (!ordered && !pace_word_listed(names, plain)) continue;
        memcpy(columns->shape_order[columns->shape_count], order, sizeof order);
        columns->shape[columns->shape_count++] = (int)c;
    }
}

static pace_status find_all(pace_columns *columns, const pace_csv *csv) {
    struct {
        const char *key;
        int *column;
    } words[] = {{"device", &columns->device},   {"source", &columns->source},   {"op", &columns->op},
                 {"dtype", &columns->dtype},     {"pass", &columns->pass},       {"layout", &columns->layout},
                 {"trans_a", &columns->trans_a}, {"trans_b", &columns->trans_b}, {"unit", &columns->unit},
                 {"window", &columns->window},   {"timed", &columns->timed}};
    for (size_t i = 0; i < PACE_COUNT(words); i++) *words[i].column = column_of(columns, csv, words[i].key);
    const pace_yaml_node *sizes = member(columns, "sizes");
    if (!pace_yaml_is_list(sizes) || pace_yaml_count(sizes) > PACE_COUNT(columns->layouts))
        return pace_yaml_fail(columns->yaml, pace_yaml_root(columns->yaml), "expected a list \"sizes\" of families");
    for (size_t i = 0; i < pace_yaml_count(sizes); i++) {
        PACE_TRY(find_layout(&columns->layouts[i], columns, csv, pace_yaml_item(sizes, i)));
        columns->layout_count++;
    }
    find_shapes(columns, csv);
    if (columns->op < 0 && !pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL)) {
        columns->op = column_of(columns, csv, "op_hint");
        columns->op_is_hint = columns->op >= 0;
    }
    return pace_measured_find(columns, csv);
}

/* A table with all columns where calibrate writes how it measured is calibrate's: that they are not read is no news. */
static void pass_over_bookkeeping(const pace_columns *columns, const pace_csv *csv) {
    const pace_yaml_node *names = member(columns, "bookkeeping");
    size_t count = pace_yaml_count(names);
    for (size_t i = 0; i < count; i++)
        if (pace_csv_find(csv, pace_yaml_text(pace_yaml_item(names, i))) < 0) return;
    for (size_t i = 0; i < count && csv->looked; i++)
        csv->looked[pace_csv_find(csv, pace_yaml_text(pace_yaml_item(names, i)))] = true;
}

pace_status pace_columns_find(pace_columns *out, pace_catalog *catalog, const pace_csv *csv) {
    pace_columns columns = {0};
    PACE_TRY(pace_catalog_document(&columns.yaml, catalog, "columns.yaml"));
    columns.kernel = pace_yaml_get(pace_yaml_root(columns.yaml), "kernel");
    pace_status status = find_all(&columns, csv);
    pass_over_bookkeeping(&columns, csv);
    if (status == PACE_OK) *out = columns;
    return status;
}
