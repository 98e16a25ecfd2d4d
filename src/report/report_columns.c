/*
 * The tables of a report, for programs: column by column, without text in between. A matrix is a table whose first
 * column, "row", names its rows.
 */
#include "report/report_node.h"

#include <math.h>
#include <stdio.h>

static size_t rows_of(const pace_node *node) {
    return node->kind == PACE_NODE_TABLE ? node->table->row_count : node->matrix->rows.count;
}

static size_t columns_of(const pace_node *node) {
    return node->kind == PACE_NODE_TABLE ? node->table->columns.count : node->matrix->columns.count + 1;
}

static pace_cell cell_of(const pace_node *node, size_t row, size_t column) {
    if (node->kind == PACE_NODE_TABLE) return pace_table_cell(node->table, row, column);
    const pace_held_matrix *matrix = node->matrix;
    if (column == 0) return (pace_cell){.kind = PACE_CELL_TEXT, .text = matrix->rows.items[row]};
    return (pace_cell){.kind = PACE_CELL_INT, .integer = matrix->cells[row * matrix->columns.count + column - 1]};
}

/* --- which there are ---------------------------------------------------------------------------------------------- */

typedef struct {
    pace_table_fn visit;
    void *context;
    int ended;
} visitor;

static bool show_table(void *context, const char *path, const pace_node *node) {
    visitor *v = context;
    if (!pace_node_is_tabular(node)) return true;
    pace_table_shape shape = {path, rows_of(node), columns_of(node)};
    return (v->ended = v->visit(v->context, &shape)) == 0;
}

int pace_report_visit_tables(const pace_report *report, pace_table_fn visit, void *context) {
    visitor v = {.visit = visit, .context = context};
    pace_report_walk(report, show_table, &v);
    return v.ended;
}

/* --- its columns -------------------------------------------------------------------------------------------------- */

/* Text anywhere makes a column one of text; a gap makes integers reals. */
static pace_value_kind kind_of(const pace_node *node, size_t column) {
    size_t count[PACE_CELL_REAL + 1] = {0}, rows = rows_of(node);
    for (size_t row = 0; row < rows; row++) count[cell_of(node, row, column).kind]++;
    if (count[PACE_CELL_TEXT]) return PACE_VALUE_TEXT;
    if (count[PACE_CELL_NONE] == rows) return PACE_VALUE_NOTHING;
    return count[PACE_CELL_INT] == rows ? PACE_VALUE_INTEGER : PACE_VALUE_REAL;
}

static void key_of(char *out, size_t size, const pace_node *node, size_t column) {
    if (node->kind == PACE_NODE_TABLE) snprintf(out, size, "%s", node->table->columns.items[column].key);
    else if (column == 0) snprintf(out, size, "row");
    else snprintf(out, size, "%s_ns", node->matrix->columns.items[column - 1]);
}

pace_status pace_report_visit_columns(const pace_report *report, int *ended, const char *table, pace_column_fn visit,
                                      void *context) {
    const pace_node *node = NULL;
    *ended = 0;
    PACE_TRY(pace_report_find_table(&node, report, table));
    for (size_t i = 0; i < columns_of(node) && *ended == 0; i++) {
        char key[512];
        key_of(key, sizeof key, node, i);
        pace_column_shape shape = {key, kind_of(node, i)};
        *ended = visit(context, &shape);
    }
    return PACE_OK;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static pace_status find_column(const pace_node **out, const pace_report *report, const char *table, size_t column) {
    const pace_node *node = NULL;
    PACE_TRY(pace_report_find_table(&node, report, table));
    if (column >= columns_of(node))
        return pace_fail(PACE_E_USAGE, "the table \"%.200s\" has %zu columns, not %zu", table ? table : "",
                         columns_of(node), column + 1);
    *out = node;
    return PACE_OK;
}

pace_status pace_report_column_integers(const pace_report *report, int64_t *cells, const char *table, size_t column) {
    const pace_node *node = NULL;
    PACE_TRY(find_column(&node, report, table, column));
    if (kind_of(node, column) != PACE_VALUE_INTEGER)
        return pace_fail(PACE_E_USAGE, "column %zu of the table \"%.200s\" has cells that are no integers", column,
                         table ? table : "");
    for (size_t row = 0; row < rows_of(node); row++) cells[row] = cell_of(node, row, column).integer;
    return PACE_OK;
}

static double real_of(pace_cell cell) {
    return cell.kind == PACE_CELL_INT ? (double)cell.integer : cell.kind == PACE_CELL_REAL ? cell.real : NAN;
}

pace_status pace_report_column_reals(const pace_report *report, double *cells, const char *table, size_t column) {
    const pace_node *node = NULL;
    PACE_TRY(find_column(&node, report, table, column));
    for (size_t row = 0; row < rows_of(node); row++) cells[row] = real_of(cell_of(node, row, column));
    return PACE_OK;
}

pace_status pace_report_column_texts(const pace_report *report, const char **cells, const char *table, size_t column) {
    const pace_node *node = NULL;
    PACE_TRY(find_column(&node, report, table, column));
    for (size_t row = 0; row < rows_of(node); row++) {
        pace_cell cell = cell_of(node, row, column);
        cells[row] = cell.kind == PACE_CELL_TEXT ? cell.text : NULL;
    }
    return PACE_OK;
}
