/*
 * The CSV renderer: one table or matrix of the report, quoted as RFC 4180 says, with plain numbers.
 */
#include "report/report_node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_field(pace_sink *sink, const char *text) {
    const char *quote = text[strcspn(text, ",\"\r\n")] ? "\"" : "";
    pace_sink_text(sink, quote);
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "\"");
        pace_sink_bytes(sink, at, plain);
        at += plain;
        if (*at == '"') {
            pace_sink_text(sink, "\"\"");
            at++;
        }
    }
    pace_sink_text(sink, quote);
}

/* The JSON writer knows the shortest decimal that reads back as the same double. */
static void write_real(pace_sink *sink, double value) {
    pace_jsonw json;
    if (!isfinite(value)) return;
    pace_jsonw_init(&json, sink, 0);
    pace_jsonw_real(&json, value);
}

static void write_cell(pace_sink *sink, pace_cell cell) {
    switch (cell.kind) {
    case PACE_CELL_NONE: break;
    case PACE_CELL_TEXT: write_field(sink, cell.text); break;
    case PACE_CELL_INT: pace_sink_format(sink, "%lld", (long long)cell.integer); break;
    case PACE_CELL_REAL: write_real(sink, cell.real); break;
    }
}

static void end_field(pace_sink *sink, size_t index, size_t count) {
    pace_sink_text(sink, index + 1 < count ? "," : "\r\n");
}

static void write_table(pace_sink *sink, const pace_held_table *table) {
    size_t width = table->columns.count;
    for (size_t i = 0; i < width; i++) {
        write_field(sink, table->columns.items[i].key);
        end_field(sink, i, width);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < width; i++) {
            write_cell(sink, pace_table_cell(table, row, i));
            end_field(sink, i, width);
        }
    }
}

static void write_matrix(pace_sink *sink, const pace_held_matrix *matrix) {
    size_t width = matrix->columns.count;
    pace_sink_text(sink, "row");
    for (size_t i = 0; i < width; i++) {
        char key[256];
        snprintf(key, sizeof key, "%.250s_ns", matrix->columns.items[i]);
        pace_sink_text(sink, ",");
        write_field(sink, key);
    }
    pace_sink_text(sink, "\r\n");
    for (size_t row = 0; row < matrix->rows.count; row++) {
        write_field(sink, matrix->rows.items[row]);
        for (size_t i = 0; i < width; i++) pace_sink_format(sink, ",%lld", (long long)matrix->cells[row * width + i]);
        pace_sink_text(sink, "\r\n");
    }
}

/* That JSON has, too: what is for people alone is chosen from other tables, whose columns hold it. */
static bool is_named(const pace_node *node) { return node->audience != PACE_FOR_PEOPLE; }

static bool is_tabular(const pace_node *node) {
    return node->kind == PACE_NODE_TABLE || node->kind == PACE_NODE_MATRIX;
}

/* --- which table: its path of keys as in JSON, "critical_path.top", "step_matrices.0.matrix" ---------------------- */

static const pace_node *resolve(const pace_node *object, const char *path);

static const pace_node *resolve_item(const pace_node *list, const char *path) {
    char *end;
    unsigned long index = strtoul(path, &end, 10);
    if (end == path || *end != '.') return NULL;
    const pace_node *item = list->first;
    while (item && index--) item = item->next;
    return item ? resolve(item, end + 1) : NULL;
}

/* The members of an object without a key stand in the object around it. */
static const pace_node *resolve(const pace_node *object, const char *path) {
    for (const pace_node *node = object->first; node; node = node->next) {
        const pace_node *found = NULL;
        size_t length = node->key ? strlen(node->key) : 0;
        if (!is_named(node)) continue;
        bool named = node->key && strncmp(path, node->key, length) == 0;
        if (!node->key && node->kind == PACE_NODE_OBJECT) found = resolve(node, path);
        else if (named && is_tabular(node) && path[length] == '\0') found = node;
        else if (named && path[length] == '.' && node->kind == PACE_NODE_OBJECT)
            found = resolve(node, path + length + 1);
        else if (named && path[length] == '.' && node->kind == PACE_NODE_LIST)
            found = resolve_item(node, path + length + 1);
        if (found) return found;
    }
    return NULL;
}

/* The last key alone will do where only one table has it. */
static const pace_node *find_by_last_key(const pace_report *report, const char *key) {
    const pace_node *found = NULL;
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node)) {
        if (!is_named(node) || !is_tabular(node) || !node->key || strcmp(node->key, key) != 0) continue;
        if (found) return NULL;
        found = node;
    }
    return found;
}

/* The first table, or the first matrix when there is no table. */
static const pace_node *find_main(const pace_report *report) {
    const pace_node *matrix = NULL;
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node)) {
        if (node->kind == PACE_NODE_TABLE) return node;
        if (node->kind == PACE_NODE_MATRIX && !matrix) matrix = node;
    }
    return matrix;
}

static const pace_node *find(const pace_report *report, const char *key) {
    if (!key) return find_main(report);
    const pace_node *node = resolve(report->root, key);
    return node ? node : find_by_last_key(report, key);
}

typedef struct {
    char text[2048];
    size_t used;
} path_list;

static void list_paths(path_list *list, const char *prefix, const pace_node *object) {
    for (const pace_node *node = object->first; node; node = node->next) {
        char path[256];
        if (!is_named(node)) continue;
        snprintf(path, sizeof path, "%s%s%s", prefix, node->key && *prefix ? "." : "", node->key ? node->key : "");
        if (is_tabular(node) && node->key && list->used < sizeof list->text) {
            int wrote =
                snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s", list->used ? ", " : "", path);
            list->used += wrote > 0 ? (size_t)wrote : 0;
        } else if (node->kind == PACE_NODE_OBJECT) {
            list_paths(list, path, node);
        } else if (node->kind == PACE_NODE_LIST && node->first) { /* the other items hold the same tables */
            strncat(path, node->first->next ? ".N" : ".0", sizeof path - strlen(path) - 1);
            list_paths(list, path, node->first);
        }
    }
}

static pace_status fail_unknown(const pace_report *report, const char *key) {
    path_list list = {0};
    list_paths(&list, "", report->root);
    return pace_fail(PACE_E_USAGE, "no table \"%.200s\" in this report; it has: %s", key,
                     list.used ? list.text : "none");
}

pace_status pace_render_csv(const pace_report *report, const pace_write_options *options, pace_sink *sink) {
    const pace_node *node = find(report, options->table);
    if (!node && options->table) return fail_unknown(report, options->table);
    if (!node) return pace_fail(PACE_E_USAGE, "this report has no table to write as csv");
    if (node->kind == PACE_NODE_TABLE) write_table(sink, node->table);
    else write_matrix(sink, node->matrix);
    return PACE_OK;
}
