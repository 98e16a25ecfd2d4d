/* `paceline predict --rows --kind job`. */
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "report/job_parts.h"
#include "ask/job_rows.h"
#include "ask/score.h"

#include <math.h>

static const pace_column answer_columns[] = {
    PACE_ANSWERED_TIME,
    PACE_ANSWERED_STATUS,
    {"input_s", "input_s", PACE_SHOW_REAL},
    {"compute_bound_s", "compute_bound_s", PACE_SHOW_REAL},
    {"memory_bound_s", "memory_bound_s", PACE_SHOW_REAL},
    {"weight_s", "weight_s", PACE_SHOW_REAL},
    {"bottleneck", "bottleneck", PACE_SHOW_TEXT},
};

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

static void add_answer(pace_answered_rows *rows, const asked *a, size_t row) {
    const char *fault = a->rows.faults.items[row];
    double components_s[PACE_JOB_COMPONENTS], values[3], step_s = 0;
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
        pace_answered_values(values, time_s, a->rows.unit_s);
    }
    pace_answered_time(rows, fault ? NULL : values, a->rows.unit, time_s.rung);
    pace_table_text(rows->table, fault ? fault : "ok");
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) pace_table_real(rows->table, fault ? NAN : components_s[c]);
    pace_table_text(rows->table, fault ? "" : pace_job_component_names[pace_job_bottleneck(components_s)]);
}

static pace_status put_rows(pace_report *report, const asked *a) {
    pace_answered_rows rows;
    PACE_TRY(pace_answered_begin(&rows, report, &a->rows.csv, answer_columns,
                                 sizeof answer_columns / sizeof *answer_columns));
    for (size_t row = 0; row < a->rows.csv.rows; row++) {
        pace_answered_row(&rows, row);
        add_answer(&rows, a, row);
    }
    return pace_answered_end(&rows, report);
}

pace_status pace_predict_job_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    pace_job_assumptions assume = options->job;
    pace_report *report = NULL;
    asked a = {0};
    assume.on = options->device;
    assume.fit_path = options->fit_path;
    pace_status status = open_asked(&a, path, &assume);
    if (status == PACE_OK) status = pace_answered_report(&report, options, a.rows.csv.name, a.rows.csv.bytes);
    if (status == PACE_OK) status = put_rows(report, &a);
    close_asked(&a);
    return pace_report_give(out, report, status);
}
