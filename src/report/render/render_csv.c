/*
 * The CSV renderer: one table or matrix of the report, quoted as RFC 4180 says, with plain numbers.
 */
#include "report/report_node.h"
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_field(pace_sink *sink, const char *text) {
    const char *quote = text[strcspn(text, ",\"\r\n")] ? "\"" : "";
    pace_sink_text(sink, quote);
    if (pace_is_formula(text, strlen(text))) pace_sink_text(sink, "'");
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

pace_status pace_render_csv(const pace_report *report, const pace_write_options *options, pace_sink *sink) {
    if (report->stream && !options->table) return report->stream(report->streamed.context, sink);
    const pace_node *node = NULL;
    PACE_TRY(pace_report_find_table(&node, report, options->table));
    if (node->kind == PACE_NODE_TABLE) write_table(sink, node->table);
    else write_matrix(sink, node->matrix);
    return PACE_OK;
}
