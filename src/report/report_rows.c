/* `paceline predict --rows`: the rows of a table, given back with what they would take. */
#include "machine/device_resolve.h"
#include "report/fit_kinds.h"
#include "report/report.h"
#include "rows/fit_rows.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const answer_names[] = {"question", "predicted", "low", "high", "unit", "rung", "status"};
enum { ANSWERS = sizeof answer_names / sizeof *answer_names };

typedef struct {
    pace_device_catalog catalog;
    pace_cost *cost;
    pace_kernel_rows rows;
    const pace_device *device; /* for rows that name none */
    char fit_unit[8];          /* of the fit; "" = no fit */
    double fit_unit_s;
} asked;

static void close_asked(asked *a) {
    pace_kernel_rows_free(&a->rows);
    pace_cost_free(a->cost);
    pace_device_catalog_free(&a->catalog);
}

static pace_status add_fit(asked *a, const pace_rows_options *options) {
    pace_fit_model fit;
    if (!options->fit_path) return PACE_OK;
    PACE_TRY(pace_fit_load(&fit, options->fit_path));
    memcpy(a->fit_unit, fit.unit, sizeof a->fit_unit);
    a->fit_unit_s = fit.unit_s;
    if (!a->device && *fit.device) a->device = pace_device_find(&a->catalog, fit.device, 0);
    return pace_cost_add_fit(a->cost, &fit);
}

static pace_status open_asked(asked *a, const char *path, const pace_rows_options *options) {
    PACE_TRY(pace_device_catalog_load(&a->catalog));
    if (options->device) PACE_TRY(pace_device_to_run_on(&a->device, &a->catalog, options->device));
    PACE_TRY(pace_cost_create(&a->cost));
    PACE_TRY(add_fit(a, options));
    return pace_kernel_rows_open(&a->rows, path, &a->catalog, a->device);
}

/* A column of the table that an answer replaces. */
static bool is_answer(const char *name) {
    for (int i = 0; i < ANSWERS; i++)
        if (strcasecmp(name, answer_names[i]) == 0) return true;
    return false;
}

static pace_status make_table(pace_node **out, const asked *a, pace_node *root) {
    const pace_csv *csv = &a->rows.csv;
    size_t count = 0;
    pace_column *columns = pace_alloc(csv->columns + ANSWERS, sizeof *columns);
    if (!columns) return PACE_E_MEMORY;
    for (size_t i = 0; i < csv->columns; i++)
        if (!is_answer(pace_csv_name(csv, i)))
            columns[count++] = (pace_column){pace_csv_name(csv, i), pace_csv_name(csv, i), PACE_SHOW_TEXT};
    for (int i = a->rows.columns.measured_count > 1 ? 0 : 1; i < ANSWERS; i++)
        columns[count++] =
            (pace_column){answer_names[i], answer_names[i], i >= 1 && i <= 3 ? PACE_SHOW_REAL : PACE_SHOW_TEXT};
    *out = pace_node_table(root, "rows", "Rows", PACE_FOR_ALL, columns, count, 0);
    pace_free(columns);
    return PACE_OK;
}

typedef struct {
    pace_estimate time_s;
    bool known;
    const char *status;
} answer;

static answer answer_of(const asked *a, const pace_kernel_row *row) {
    answer given = {.status = row->status};
    /* A time that was not measured, or not well, is no reason not to predict it. */
    bool can_ask = row->device && row->op.flop + row->op.read_bytes + row->op.write_bytes > 0;
    if (!can_ask) return given;
    given.known = pace_cost_op_from(&given.time_s, a->cost, row->device, &row->op, row->source) == PACE_OK;
    if (!given.known) given.status = pace_message();
    else if (!*row->status) given.status = "ok";
    return given;
}

static void answer_cells(pace_node *table, const asked *a, const pace_kernel_row *row, const answer *given) {
    const pace_columns *columns = &a->rows.columns;
    const char *unit = columns->measured_count > 0 ? columns->measured[row->measured].unit
                       : *a->fit_unit              ? a->fit_unit
                                                   : "s";
    double unit_s = columns->measured_count > 0 ? columns->measured[row->measured].unit_s
                    : *a->fit_unit              ? a->fit_unit_s
                                                : 1;
    if (columns->measured_count > 1)
        pace_table_text(table, pace_csv_name(&a->rows.csv, (size_t)columns->measured[row->measured].column));
    double values[] = {given->time_s.median, pace_estimate_low(given->time_s), pace_estimate_high(given->time_s)};
    for (int i = 0; i < 3; i++) {
        if (given->known) pace_table_real(table, values[i] / unit_s);
        else pace_table_none(table);
    }
    pace_table_text(table, unit);
    if (given->known) pace_table_text(table, pace_rung_names[given->time_s.rung]);
    else pace_table_none(table);
    pace_table_text(table, given->status);
}

static void add_rows(pace_node *table, const asked *a, size_t *answered) {
    const pace_csv *csv = &a->rows.csv;
    for (size_t i = 0; i < a->rows.rows.count; i++) {
        const pace_kernel_row *row = &a->rows.rows.items[i];
        answer given = answer_of(a, row);
        *answered += given.known;
        pace_table_row(table);
        for (size_t c = 0; c < csv->columns; c++)
            if (!is_answer(pace_csv_name(csv, c))) pace_table_text(table, pace_csv_cell(csv, row->row, c));
        answer_cells(table, a, row, &given);
    }
}

static pace_status describe(pace_report **out, const asked *a, const pace_rows_options *options) {
    pace_report *report;
    pace_node *table;
    size_t answered = 0;
    PACE_TRY(pace_report_new(&report, "predict", "Rows predicted"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_report_add_input(report, a->rows.csv.name, a->rows.csv.bytes);
    pace_status status = make_table(&table, a, pace_report_root(report));
    if (status == PACE_OK) {
        add_rows(table, a, &answered);
        pace_node_int(pace_report_root(report), "answered", (int64_t)answered);
        pace_node_int(pace_report_root(report), "asked", (int64_t)a->rows.rows.count);
        if (answered < a->rows.rows.count)
            pace_report_warn(report, "%zu of %zu rows cannot be answered: see the column status",
                             a->rows.rows.count - answered, a->rows.rows.count);
        status = pace_report_status(report);
    }
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    if (options->kind && strcmp(options->kind, "exchange") == 0) return pace_predict_exchange_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "step") == 0) return pace_predict_step_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "scaling") == 0) return pace_predict_scaling_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "job") == 0) return pace_predict_job_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "kernel") != 0)
        return pace_fail(PACE_E_USAGE, "--kind: expected kernel, exchange, step, scaling or job, found \"%.40s\"",
                         options->kind);
    pace_status status = open_asked(&a, path, options);
    if (status == PACE_OK) status = describe(out, &a, options);
    close_asked(&a);
    return status;
}
