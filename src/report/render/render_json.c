/*
 * The JSON renderer: the stable form of a report, for programs. Nodes for people only are left out; sentences
 * and notes, wherever they stand, are collected at the end.
 */
#include "report/report_node.h"

#include <stdio.h>

static void write_text(pace_jsonw *json, const char *text) {
    if (text) pace_jsonw_text(json, text);
    else pace_jsonw_null(json);
}

static void write_cell(pace_jsonw *json, pace_cell cell) {
    switch (cell.kind) {
    case PACE_CELL_NONE: pace_jsonw_null(json); break;
    case PACE_CELL_TEXT: pace_jsonw_text(json, cell.text); break;
    case PACE_CELL_INT: pace_jsonw_int(json, cell.integer); break;
    case PACE_CELL_REAL: pace_jsonw_real(json, cell.real); break;
    }
}

static void write_table(pace_jsonw *json, const pace_held_table *table) {
    pace_jsonw_array(json);
    for (size_t row = 0; row < table->row_count; row++) {
        pace_jsonw_compact(json);
        pace_jsonw_object(json);
        for (size_t i = 0; i < table->columns.count; i++) {
            pace_jsonw_key(json, table->columns.items[i].key);
            write_cell(json, pace_table_cell(table, row, i));
        }
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

static void write_matrix(pace_jsonw *json, const pace_held_matrix *matrix) {
    size_t width = matrix->columns.count;
    pace_jsonw_object(json);
    for (size_t row = 0; row < matrix->rows.count; row++) {
        pace_jsonw_key(json, matrix->rows.items[row]);
        pace_jsonw_compact(json);
        pace_jsonw_object(json);
        for (size_t i = 0; i < width; i++) {
            char key[256];
            snprintf(key, sizeof key, "%.250s_ns", matrix->columns.items[i]);
            pace_jsonw_key_int(json, key, matrix->cells[row * width + i]);
        }
        pace_jsonw_object_end(json);
    }
    pace_jsonw_object_end(json);
}

static void write_members(pace_jsonw *json, const pace_node *object);

static void write_list(pace_jsonw *json, const pace_node *list) {
    pace_jsonw_array(json);
    for (const pace_node *item = list->first; item; item = item->next) {
        if (item->kind != PACE_NODE_OBJECT) continue;
        pace_jsonw_object(json);
        write_members(json, item);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

static void write_value(pace_jsonw *json, const pace_node *node) {
    switch (node->kind) {
    case PACE_NODE_OBJECT:
        pace_jsonw_object(json);
        write_members(json, node);
        pace_jsonw_object_end(json);
        break;
    case PACE_NODE_LIST: write_list(json, node); break;
    case PACE_NODE_INT: pace_jsonw_int(json, node->integer); break;
    case PACE_NODE_REAL: pace_jsonw_real(json, node->real); break;
    case PACE_NODE_TEXT: write_text(json, node->text); break;
    case PACE_NODE_BOOL: pace_jsonw_bool(json, node->flag); break;
    case PACE_NODE_TABLE: write_table(json, node->table); break;
    case PACE_NODE_MATRIX: write_matrix(json, node->matrix); break;
    default: pace_jsonw_null(json); break;
    }
}

/* An object without a key groups its children for people only; in JSON they become members of the parent. */
static void write_members(pace_jsonw *json, const pace_node *object) {
    for (const pace_node *node = object->first; node; node = node->next) {
        if (node->audience == PACE_FOR_PEOPLE) continue;
        if (node->key) {
            pace_jsonw_key(json, node->key);
            write_value(json, node);
        } else if (node->kind == PACE_NODE_OBJECT) {
            write_members(json, node);
        }
    }
}

static void write_lines(pace_jsonw *json, const pace_report *report, const char *key, pace_node_kind kind,
                        pace_node_kind or_kind) {
    pace_jsonw_key_array(json, key);
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node))
        if (node->kind == kind || node->kind == or_kind) write_text(json, node->text);
    pace_jsonw_array_end(json);
}

static void write_inputs(pace_jsonw *json, const pace_report *report) {
    pace_jsonw_key_array(json, "inputs");
    for (size_t i = 0; i < report->inputs.count; i++) {
        pace_jsonw_compact(json);
        pace_jsonw_object(json);
        pace_jsonw_key_text(json, "path", report->inputs.items[i].path);
        pace_jsonw_key_int(json, "bytes", (int64_t)report->inputs.items[i].bytes);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

void pace_write_warnings(pace_jsonw *json, const pace_report *report) {
    pace_jsonw_array(json);
    for (size_t i = 0; i < report->warnings.count; i++) {
        pace_warning one = pace_report_warning(report, i);
        pace_jsonw_compact(json);
        pace_jsonw_object(json);
        pace_jsonw_key_text(json, "code", one.code);
        pace_jsonw_key_text(json, "place", one.place);
        pace_jsonw_key_text(json, "text", one.text);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

pace_status pace_render_json(const pace_report *report, pace_sink *sink) {
    pace_jsonw json;
    char schema[128];
    snprintf(schema, sizeof schema, "paceline.%.100s/1", report->verb ? report->verb : "");
    pace_jsonw_init(&json, sink, 2);
    pace_jsonw_object(&json);
    pace_jsonw_key_text(&json, "schema", schema);
    pace_jsonw_key_text(&json, "paceline", pace_version());
    pace_jsonw_texts(&json, "command", (const char *const *)report->command.items, report->command.count);
    write_inputs(&json, report);
    write_members(&json, report->root);
    write_lines(&json, report, "summary", PACE_NODE_STRONG, PACE_NODE_SENTENCE);
    write_lines(&json, report, "notes", PACE_NODE_NOTE, PACE_NODE_NOTE);
    pace_jsonw_key(&json, "warnings");
    pace_write_warnings(&json, report);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}
