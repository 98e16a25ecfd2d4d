/* The junit renderer: the table "checks" of a report as the test cases that continuous integration shows. */
#include "report/report_node.h"

#include <string.h>

static void put_escaped(pace_sink *sink, const char *text) {
    for (const char *at = text; *at; at++) {
        const char *as = *at == '<'   ? "&lt;"
                         : *at == '>' ? "&gt;"
                         : *at == '&' ? "&amp;"
                         : *at == '"' ? "&quot;"
                                      : NULL;
        if (as) pace_sink_text(sink, as);
        else if ((unsigned char)*at >= ' ') pace_sink_bytes(sink, at, 1);
        else pace_sink_text(sink, " ");
    }
}

static const pace_node *find_checks(const pace_report *report) {
    const pace_node *node = report->root;
    for (; node; node = pace_node_after(report->root, node))
        if (node->kind == PACE_NODE_TABLE && node->key && strcmp(node->key, "checks") == 0) return node;
    return NULL;
}

/* Columns of "checks": name, holds ("yes" or "no"), text. */
enum { NAME, HOLDS, TEXT, COLUMNS };

static const char *cell(const pace_held_table *table, size_t row, int column) {
    const pace_cell *found = &table->cells.items[row * COLUMNS + (size_t)column];
    return found->kind == PACE_CELL_TEXT && found->text ? found->text : "";
}

static void put_case(pace_sink *sink, const pace_report *report, const pace_held_table *table, size_t row) {
    bool holds = strcmp(cell(table, row, HOLDS), "yes") == 0;
    pace_sink_format(sink, "    <testcase classname=\"paceline.%s\" name=\"", report->verb);
    put_escaped(sink, cell(table, row, NAME));
    pace_sink_text(sink, holds ? "\">\n      <system-out>" : "\">\n      <failure message=\"");
    put_escaped(sink, cell(table, row, TEXT));
    pace_sink_text(sink, holds ? "</system-out>\n    </testcase>\n" : "\"/>\n    </testcase>\n");
}

pace_status pace_render_junit(const pace_report *report, pace_sink *sink) {
    const pace_node *checks = find_checks(report);
    if (!checks)
        return pace_fail(PACE_E_USAGE, "this answer holds no checks to write as junit (see " PACE_FIELD "fail_on)");
    const pace_held_table *table = checks->table;
    size_t failures = 0;
    for (size_t i = 0; i < table->row_count; i++) failures += strcmp(cell(table, i, HOLDS), "yes") != 0;
    pace_sink_format(sink,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                     "  <testsuite name=\"paceline %s\" tests=\"%zu\" failures=\"%zu\">\n",
                     report->verb, table->row_count, failures);
    for (size_t i = 0; i < table->row_count; i++) put_case(sink, report, table, i);
    pace_sink_text(sink, "  </testsuite>\n</testsuites>\n");
    return PACE_OK;
}
