#include "report/answered_rows.h"

#include "base/memory.h"

#include <strings.h>

pace_status pace_answered_report(pace_report **out, const pace_rows_options *options, const char *name,
                                 uint64_t bytes) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "predict", "Rows predicted"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_report_add_input(report, name, bytes);
    *out = report;
    return PACE_OK;
}

/* A column of the table that an answer replaces. */
static bool is_answer(const pace_answered_rows *rows, size_t column) {
    for (size_t i = 0; i < rows->count; i++)
        if (strcasecmp(pace_csv_name(rows->csv, column), rows->columns[i].key) == 0) return true;
    return false;
}

pace_status pace_answered_begin(pace_answered_rows *out, pace_report *report, const pace_csv *csv,
                                const pace_column *columns, size_t count) {
    pace_answered_rows rows = {.csv = csv, .columns = columns, .count = count};
    size_t used = 0;
    pace_column *all = pace_alloc(csv->columns + count, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t i = 0; i < csv->columns; i++)
        if (!is_answer(&rows, i))
            all[used++] = (pace_column){pace_csv_name(csv, i), pace_csv_name(csv, i), PACE_SHOW_TEXT};
    for (size_t i = 0; i < count; i++) all[used++] = columns[i];
    rows.table = pace_node_table(pace_report_root(report), "rows", "Rows", PACE_FOR_ALL, all, used, 0);
    pace_free(all);
    *out = rows;
    return PACE_OK;
}

void pace_answered_row(pace_answered_rows *rows, size_t row) {
    rows->asked++;
    pace_table_row(rows->table);
    for (size_t c = 0; c < rows->csv->columns; c++)
        if (!is_answer(rows, c)) pace_table_text(rows->table, pace_csv_cell(rows->csv, row, c));
}

void pace_answered_time(pace_answered_rows *rows, const double values[3], const char *unit, pace_rung rung) {
    rows->answered += values != NULL;
    for (int i = 0; i < 3; i++) {
        if (values) pace_table_real(rows->table, values[i]);
        else pace_table_none(rows->table);
    }
    pace_table_text(rows->table, unit);
    if (values) pace_table_text(rows->table, pace_rung_names[rung]);
    else pace_table_none(rows->table);
}

void pace_answered_values(double values[3], pace_estimate time_s, double unit_s) {
    values[0] = time_s.median / unit_s;
    values[1] = pace_estimate_low(time_s) / unit_s;
    values[2] = pace_estimate_high(time_s) / unit_s;
}

pace_status pace_answered_end(const pace_answered_rows *rows, pace_report *report) {
    pace_node *root = pace_report_root(report);
    pace_node_int(root, "answered", (int64_t)rows->answered);
    pace_node_int(root, "asked", (int64_t)rows->asked);
    if (rows->answered < rows->asked)
        pace_report_warn(report, "%zu of %zu rows cannot be answered: see the column status",
                         rows->asked - rows->answered, rows->asked);
    return pace_report_status(report);
}

void pace_answered_held_out(pace_node *root, const pace_held_out *score) {
    static const pace_column columns[] = {
        {"rows", "Rows", PACE_SHOW_INT},
        {"formula_mape", "MAPE by formula", PACE_SHOW_SHARE},
        {"mape", "MAPE held out", PACE_SHOW_SHARE},
        {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE},
        {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    };
    pace_node *table =
        pace_node_table(root, "score", "Error on rows that were held out", PACE_FOR_ALL, PACE_COLUMNS(columns), 0);
    double figures[] = {score->formula_mape, score->mape, score->signed_mean, score->largest, score->coverage};
    pace_table_row(table);
    pace_table_int(table, (int64_t)score->rows);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) pace_table_real(table, figures[i]);
}
