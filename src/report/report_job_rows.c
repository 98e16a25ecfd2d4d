/* `paceline predict --rows --kind job`. */
#include "report/fit_kinds.h"
#include "report/job_parts.h"
#include "rows/job_rows.h"
#include "rows/score.h"

#include <math.h>
#include <strings.h>

static const char *const answer_names[] = {"predicted",      "low",     "high",    "unit",
                                           "rung",           "status",  "input_s", "compute_bound_s",
                                           "memory_bound_s", "weight_s"};
enum { ANSWERS = sizeof answer_names / sizeof *answer_names, WORDS_FROM = 3, WORDS_TO = 5 };

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_job_rows rows;
} asked;

static void close_asked(asked *a) {
    pace_job_rows_free(&a->rows);
    pace_job_catalog_free(&a->catalog);
}

static pace_status open_asked(asked *a, const char *path, const pace_job_assumptions *assume) {
    PACE_TRY(pace_job_assume(&a->setting, &a->catalog, assume));
    return pace_job_rows_open(&a->rows, path, &a->catalog);
}

static bool is_answer(const char *name) {
    for (int i = 0; i < ANSWERS; i++)
        if (strcasecmp(name, answer_names[i]) == 0) return true;
    return false;
}

static pace_status make_table(pace_node **out, const pace_csv *csv, pace_node *root) {
    size_t count = 0;
    pace_column *columns = pace_alloc(csv->columns + ANSWERS, sizeof *columns);
    if (!columns) return PACE_E_MEMORY;
    for (size_t i = 0; i < csv->columns; i++)
        if (!is_answer(pace_csv_name(csv, i)))
            columns[count++] = (pace_column){pace_csv_name(csv, i), pace_csv_name(csv, i), PACE_SHOW_TEXT};
    for (int i = 0; i < ANSWERS; i++)
        columns[count++] = (pace_column){answer_names[i], answer_names[i],
                                         i >= WORDS_FROM && i <= WORDS_TO ? PACE_SHOW_TEXT : PACE_SHOW_REAL};
    *out = pace_node_table(root, "rows", "Rows", PACE_FOR_ALL, columns, count, 0);
    pace_free(columns);
    return PACE_OK;
}

static bool add_answer(pace_node *table, const asked *a, size_t row) {
    const char *fault = a->rows.faults.items[row], *rung = NULL;
    double components_s[PACE_JOB_COMPONENTS], step_s = 0;
    pace_job_setting setting;
    pace_job_parts parts;
    double part_s[PACE_JOB_PARTS];
    pace_estimate time_s = {0};
    if (!fault && pace_job_rows_parts(part_s, &setting, &a->rows, row, &a->setting) != PACE_OK) fault = pace_message();
    if (!fault) {
        pace_job_change unchanged = pace_job_unchanged(&setting);
        for (int p = 0; p < PACE_JOB_PARTS; p++) parts.part[p][0] = part_s[p];
        pace_job_steps(&step_s, &parts, 1, &unchanged);
        pace_job_components(components_s, &parts, 0);
        time_s = pace_job_estimate(step_s, &setting);
        rung = pace_rung_names[time_s.rung];
    }
    double values[] = {time_s.median, pace_estimate_low(time_s), pace_estimate_high(time_s)};
    for (int i = 0; i < 3; i++) pace_table_real(table, fault ? NAN : values[i] / a->rows.unit_s);
    pace_table_text(table, a->rows.unit);
    pace_table_text(table, rung);
    pace_table_text(table, fault ? fault : "ok");
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) pace_table_real(table, fault ? NAN : components_s[c]);
    return !fault;
}

static pace_status put_rows(pace_report *report, const asked *a) {
    const pace_csv *csv = &a->rows.csv;
    pace_node *root = pace_report_root(report), *table;
    size_t answered = 0;
    PACE_TRY(make_table(&table, csv, root));
    for (size_t row = 0; row < csv->rows; row++) {
        pace_table_row(table);
        for (size_t c = 0; c < csv->columns; c++)
            if (!is_answer(pace_csv_name(csv, c))) pace_table_text(table, pace_csv_cell(csv, row, c));
        answered += add_answer(table, a, row);
    }
    pace_node_int(root, "answered", (int64_t)answered);
    pace_node_int(root, "asked", (int64_t)csv->rows);
    if (answered < csv->rows)
        pace_report_warn(report, "%zu of %zu rows cannot be answered: see the column status", csv->rows - answered,
                         csv->rows);
    return pace_report_status(report);
}

pace_status pace_predict_job_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    pace_job_assumptions assume = options->job;
    pace_report *report = NULL;
    asked a = {0};
    assume.on = options->device;
    assume.fit_path = options->fit_path;
    pace_status status = open_asked(&a, path, &assume);
    if (status == PACE_OK) status = pace_report_new(&report, "predict", "Rows predicted");
    if (status == PACE_OK) {
        pace_report_set_command(report, options->command, options->command_count);
        pace_report_add_input(report, a.rows.csv.name, a.rows.csv.bytes);
        status = put_rows(report, &a);
    }
    close_asked(&a);
    if (status == PACE_OK) *out = report;
    else pace_report_free(report);
    return status;
}
