/* `paceline predict --rows`: the rows of a table, given back with what they would take. */
#include "machine/device_resolve.h"
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "ask/fit_rows.h"
#include "ask/table_kind.h"

#include <math.h>
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
    if (!pace_kernel_row_can_ask(row)) return given;
    given.known = pace_kernel_row_price(&given.time_s, a->cost, &a->rows, row) == PACE_OK;
    if (!given.known) given.status = pace_message();
    else if (!*row->status) given.status = "ok";
    return given;
}

/* To ten digits: no answer is known better, and fewer are written and read in half the time. */
static double rounded(double value) {
    if (!(value > 1e-12 && value < 1e12)) return value;
    double scale = pow(10, 9 - floor(log10(value)));
    return scale >= 1 ? round(value * scale) / scale : value;
}

static void answer_cells(pace_answered_rows *rows, const asked *a, const pace_kernel_row *row, const answer *given) {
    const pace_columns *columns = &a->rows.columns;
    const pace_measured_column fit_unit = {.unit_s = *a->fit_unit ? a->fit_unit_s : 1};
    const pace_measured_column *in = columns->measured_count > 0 ? &columns->measured[row->measured] : &fit_unit;
    const char *unit = columns->measured_count > 0 ? in->unit : *a->fit_unit ? a->fit_unit : "s";
    if (columns->measured_count > 1) pace_table_text(rows->table, pace_csv_name(&a->rows.csv, (size_t)in->column));
    double time_s[] = {given->time_s.median, pace_estimate_low(given->time_s), pace_estimate_high(given->time_s)};
    bool rate = in->kind != PACE_MEASURED_TIME; /* the longest time is the lowest rate */
    double values[3];
    for (int i = 0; i < 3; i++)
        values[i] = rounded(pace_kernel_row_in_unit(in, row, time_s[rate && i > 0 ? 3 - i : i]));
    pace_answered_time(rows, given->known ? values : NULL, unit, given->time_s.rung);
    pace_table_text(rows->table, given->status);
}

static void warn_of_units(pace_report *report, const asked *a) {
    const pace_columns *columns = &a->rows.columns;
    for (unsigned i = 0; a->rows.guessed_unit && i < columns->measured_count; i++)
        pace_report_warn(report, "column \"%.40s\" names no unit: taken as %s, which fits the rows best",
                         pace_csv_name(&a->rows.csv, (size_t)columns->measured[i].column), columns->measured[i].unit);
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
    warn_of_units(report, a);
    return pace_answered_end(&rows, report);
}

static pace_status predict_kernel_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = open_asked(&a, path, options);
    if (status == PACE_OK) status = pace_answered_report(&report, options, a.rows.csv.name, a.rows.csv.bytes);
    if (status == PACE_OK) status = put_rows(report, &a);
    close_asked(&a);
    return pace_report_give(out, report, status);
}

typedef pace_status (*answer_kind)(pace_report **out, const char *path, const pace_rows_options *options);

static const struct {
    const char *kind;
    answer_kind answer;
} kinds[] = {{"kernel", predict_kernel_rows},
             {"exchange", pace_predict_exchange_rows},
             {"step", pace_predict_step_rows},
             {"scaling", pace_predict_scaling_rows},
             {"job", pace_predict_job_rows}};

pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    uint64_t failures = pace_memory_failures();
    const char *kind = options->kind ? options->kind : pace_table_kind(path);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pace_report *report = NULL;
        if (strcmp(kinds[i].kind, kind) != 0) continue;
        pace_status status = kinds[i].answer(&report, path, options);
        if (status == PACE_OK && !options->kind && i > 0)
            pace_report_warn(report, "taken as --kind %s, by the table's columns", kind);
        return pace_report_settle(out, report, status, failures);
    }
    return pace_fail(PACE_E_USAGE, "--kind: expected kernel, exchange, step, scaling or job, found \"%.40s\"", kind);
}
