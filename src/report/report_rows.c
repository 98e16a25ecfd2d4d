/* `paceline predict --rows`: the rows of a table, given back with what they would take. */
#include "machine/device_resolve.h"
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "rows/fit_rows.h"

#include <string.h>

/* A table with several measured columns asks as many questions a row. */
static const pace_column answer_columns[] = {{"question", "question", PACE_SHOW_TEXT},
                                             PACE_ANSWERED_TIME,
                                             PACE_ANSWERED_STATUS};
enum { ANSWERS = sizeof answer_columns / sizeof *answer_columns };

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

static void answer_cells(pace_answered_rows *rows, const asked *a, const pace_kernel_row *row, const answer *given) {
    const pace_columns *columns = &a->rows.columns;
    const char *unit = columns->measured_count > 0 ? columns->measured[row->measured].unit
                       : *a->fit_unit              ? a->fit_unit
                                                   : "s";
    double unit_s = columns->measured_count > 0 ? columns->measured[row->measured].unit_s
                    : *a->fit_unit              ? a->fit_unit_s
                                                : 1;
    double values[3];
    if (columns->measured_count > 1)
        pace_table_text(rows->table, pace_csv_name(&a->rows.csv, (size_t)columns->measured[row->measured].column));
    pace_answered_values(values, given->time_s, unit_s);
    pace_answered_time(rows, given->known ? values : NULL, unit, given->time_s.rung);
    pace_table_text(rows->table, given->status);
}

static pace_status put_rows(pace_report *report, const asked *a) {
    size_t first = a->rows.columns.measured_count > 1 ? 0 : 1;
    pace_answered_rows rows;
    PACE_TRY(pace_answered_begin(&rows, report, &a->rows.csv, answer_columns + first, ANSWERS - first));
    for (size_t i = 0; i < a->rows.rows.count; i++) {
        const pace_kernel_row *row = &a->rows.rows.items[i];
        answer given = answer_of(a, row);
        pace_answered_row(&rows, row->row);
        answer_cells(&rows, a, row, &given);
    }
    return pace_answered_end(&rows, report);
}

static pace_status predict_kernel_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = open_asked(&a, path, options);
    if (status == PACE_OK) status = pace_answered_report(&report, options, a.rows.csv.name, a.rows.csv.bytes);
    if (status == PACE_OK) status = put_rows(report, &a);
    close_asked(&a);
    if (status == PACE_OK) *out = report;
    else pace_report_free(report);
    return status;
}

pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    if (options->kind && strcmp(options->kind, "exchange") == 0) return pace_predict_exchange_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "step") == 0) return pace_predict_step_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "scaling") == 0) return pace_predict_scaling_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "job") == 0) return pace_predict_job_rows(out, path, options);
    if (options->kind && strcmp(options->kind, "kernel") != 0)
        return pace_fail(PACE_E_USAGE, "--kind: expected kernel, exchange, step, scaling or job, found \"%.40s\"",
                         options->kind);
    return predict_kernel_rows(out, path, options);
}
