#include "report/show_findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pace_put_found_cell(pace_node *table, const pace_column *column, const pace_found_cell *cell) {
    if (column->show == PACE_SHOW_TEXT) pace_table_text(table, cell->text);
    else if (isnan(cell->number)) pace_table_none(table);
    else if (column->show == PACE_SHOW_INT) pace_table_int(table, (int64_t)cell->number);
    else pace_table_real(table, cell->number);
}

static void put_table(pace_node *root, const pace_found *found) {
    pace_node *table =
        pace_node_table(root, found->key, found->text, found->for_programs ? PACE_FOR_JSON : PACE_FOR_ALL,
                        found->columns, found->column_count, 0);
    for (size_t i = 0; i < found->cells.count; i++) {
        if (i % found->column_count == 0) pace_table_row(table);
        pace_put_found_cell(table, &found->columns[i % found->column_count], &found->cells.items[i]);
    }
}

/* The objects of a path that are open: figures of one object follow each other. */
typedef struct {
    pace_node *node[4];
    char path[64];
} objects;

/* The object in which the figure of this path stands. */
static pace_node *object_of(objects *open, pace_node *root, const char *path) {
    pace_node *node = root;
    size_t start = 0;
    for (int depth = 0; depth < 4; depth++) {
        const char *dot = strchr(path + start, '.');
        if (!dot) break;
        size_t end = (size_t)(dot - path);
        bool same = strncmp(open->path, path, end + 1) == 0;
        if (!same) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)(end - start), path + start);
            open->node[depth] = pace_node_object(node, key, NULL, PACE_FOR_JSON);
            snprintf(open->path, sizeof open->path, "%.*s", (int)(end + 1), path);
        }
        node = open->node[depth];
        start = end + 1;
    }
    return node;
}

static void put(pace_report *report, objects *open, const pace_found *found) {
    pace_node *root = pace_report_root(report), *object = object_of(open, root, found->key);
    const char *key = strrchr(found->key, '.') ? strrchr(found->key, '.') + 1 : found->key;
    switch (found->kind) {
    case PACE_FOUND_INT: pace_node_int(object, key, (int64_t)found->number); break;
    case PACE_FOUND_REAL: pace_node_real(object, key, found->number); break;
    case PACE_FOUND_TEXT: pace_node_text(object, key, found->text); break;
    case PACE_FOUND_ANSWER: pace_node_sentence(root, true, "%s", found->text); break;
    case PACE_FOUND_NOTE: pace_node_note(root, "%s", found->text); break;
    case PACE_FOUND_WARNING: pace_report_warn(report, found->code, NULL, "%s", found->text); break;
    case PACE_FOUND_TABLE: put_table(root, found); break;
    }
}

pace_status pace_put_findings(pace_report *report, const pace_findings *findings) {
    objects open = {.path = ""};
    PACE_TRY(pace_findings_status(findings));
    for (size_t i = 0; i < findings->items.count; i++) put(report, &open, &findings->items.items[i]);
    return PACE_OK;
}
