/* `paceline predict --rows --kind step` and `paceline fit --kind step`. */
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "ask/step_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const pace_column answer_columns[] = {PACE_ANSWERED_TIME,
                                             {"memory_bytes", "memory_bytes", PACE_SHOW_BYTES},
                                             {"last_rank_bytes", "last_rank_bytes", PACE_SHOW_BYTES},
                                             PACE_ANSWERED_STATUS};

typedef struct {
    pace_step_rows rows;
    pace_step_pricer pricer;
    pace_step_fit fit;
    bool fitted;
} asked;

/* --- predict ------------------------------------------------------------------------------------------------------ */

/* In the row's unit; the higher a rate, the less time. */
static void put_time(pace_answered_rows *rows, const pace_step_row *row, pace_estimate s, double unit_s,
                     const char *unit) {
    double values[3];
    pace_answered_values(values, s, unit_s > 0 ? unit_s : 1);
    if (unit_s == 0) {
        double amount = pace_step_row_amount(row, unit);
        double rates[] = {amount / values[0], amount / values[2], amount / values[1]};
        memcpy(values, rates, sizeof values);
    }
    pace_answered_time(rows, values, unit, s.rung);
}

static void put_status(pace_node *table, const pace_step_row *row, const pace_step_answer *answer) {
    char text[256];
    bool fits = !(answer->device_bytes > 0) || answer->memory_bytes <= answer->device_bytes;
    const char *notes[] = {fits ? "" : "does not fit into memory",
                           answer->recomputed ? "assumed full recomputation" : "", row->status};
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (*notes[i]) used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "; " : "", notes[i]);
    if (used == 0) snprintf(text, sizeof text, "ok");
    pace_table_text(table, text);
}

static void add_answer(pace_answered_rows *rows, asked *a, const pace_step_row *row, double formula_spread) {
    pace_step_answer answer;
    const pace_step_fit *fit = a->fitted ? &a->fit : NULL;
    bool silent = !(row->measured_s > 0) && a->fitted; /* the fit's unit where the table measured nothing */
    double unit_s = silent ? a->fit.unit_s : row->unit_s;
    const char *unit = silent ? a->fit.unit : row->unit;
    if (row->model && pace_step_row_answer(&answer, &a->pricer, row, fit, formula_spread) == PACE_OK) {
        put_time(rows, row, answer.time_s, unit_s, unit);
        pace_table_real(rows->table, answer.memory_bytes);
        pace_table_real(rows->table, answer.last_rank_bytes);
        put_status(rows->table, row, &answer);
    } else {
        pace_answered_time(rows, NULL, unit, PACE_RUNGS);
        pace_table_none(rows->table);
        pace_table_none(rows->table);
        pace_table_text(rows->table, row->model ? pace_message() : row->status);
    }
}

static pace_status put_rows(pace_report *report, asked *a) {
    double spread = pace_step_rows_frameworks(&a->rows)->spread;
    pace_answered_rows rows;
    PACE_TRY(pace_answered_begin(&rows, report, &a->rows.csv, answer_columns,
                                 sizeof answer_columns / sizeof *answer_columns));
    for (size_t i = 0; i < a->rows.rows.count; i++) {
        const pace_step_row *row = &a->rows.rows.items[i];
        pace_answered_row(&rows, row->row);
        add_answer(&rows, a, row, spread);
    }
    return pace_answered_end(&rows, report);
}

static void close_asked(asked *a) {
    pace_step_rows_free(&a->rows);
    pace_step_pricer_close(&a->pricer);
}

static pace_status open_asked(asked *a, const char *path, const pace_rows_options *options) {
    if (options->fit_path) {
        PACE_TRY(pace_step_fit_load(&a->fit, options->fit_path));
        a->fitted = true;
    }
    const char *on = options->device ? options->device : *a->fit.on ? a->fit.on : NULL;
    PACE_TRY(pace_step_pricer_open(&a->pricer));
    return pace_step_rows_open(&a->rows, path, &(pace_step_defaults){on});
}

pace_status pace_predict_step_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = open_asked(&a, path, options);
    if (status == PACE_OK) status = pace_report_new(&report, "predict", "Rows predicted");
    if (status == PACE_OK) {
        pace_report_set_command(report, options->command, options->command_count);
        pace_report_add_input(report, a.rows.csv.name, a.rows.csv.bytes);
        status = put_rows(report, &a);
    }
    close_asked(&a);
    return pace_report_give(out, report, status);
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_step_rows *tables;
    size_t count;
    pace_step_pricer pricer;
    pace_step_fit fit;
    pace_step_fit_score score;
} fitted;

static void put_factors(pace_node *root, const fitted *f) {
    static const pace_column columns[] = {{"factor", "On the time of", PACE_SHOW_TEXT},
                                          {"value", "factor", PACE_SHOW_REAL}};
    static const pace_column groups[] = {{"group", "What is left, by group", PACE_SHOW_TEXT},
                                         {"rows", "rows", PACE_SHOW_INT},
                                         {"factor", "factor", PACE_SHOW_REAL}};
    const double *factors = (const double *)&f->fit.factors;
    pace_node *table = pace_node_table(root, "factors", "Factors", PACE_FOR_ALL, columns, 2, 0);
    for (int i = 0; i < PACE_STEP_FACTORS; i++) {
        pace_table_row(table);
        pace_table_text(table, pace_step_factor_names[i]);
        pace_table_real(table, factors[i]);
    }
    table = pace_node_table(root, "groups", "Groups", PACE_FOR_ALL, groups, 3, 0);
    for (unsigned i = 0; i < f->fit.group_count; i++) {
        pace_table_row(table);
        pace_table_text(table, f->fit.groups[i].name);
        pace_table_int(table, (int64_t)f->fit.groups[i].rows);
        pace_table_real(table, exp(f->fit.groups[i].log_offset));
    }
}

static pace_status build_fit(pace_report *report, const fitted *f, const pace_rows_options *options) {
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < f->count; i++) pace_report_add_input(report, f->tables[i].csv.name, f->tables[i].csv.bytes);
    if (f->score.left_out)
        pace_report_warn(report, "%zu rows were left out: without a time, or they cannot be asked", f->score.left_out);
    pace_node_int(root, "rows", (int64_t)f->score.error.rows);
    pace_node_int(root, "rows_left_out", (int64_t)f->score.left_out);
    pace_node_text(root, "file", options->fit_path);
    pace_node_sentence(root, true, "Fitted to %zu steps%s%s; rows held out are off by %.1f %% (by formula %.1f %%).",
                       f->score.error.rows, options->fit_path ? ", written to " : "",
                       options->fit_path ? options->fit_path : "", 100 * f->score.error.mape,
                       100 * f->score.error.formula_mape);
    pace_answered_held_out(root, &f->score.error);
    put_factors(root, f);
    pace_node_note(root,
                   "Rows of one model are held out together, %zu times; how firmly factors are held to 1, and whether "
                   "groups have a factor of their own, is chosen by that. The fit that is kept saw all rows.",
                   f->score.folds);
    return pace_report_status(report);
}

static pace_status run_fit(pace_report **report, fitted *f, const char *const *paths, size_t count,
                           const pace_rows_options *options) {
    PACE_TRY(pace_step_pricer_open(&f->pricer));
    f->tables = pace_alloc(count, sizeof *f->tables);
    if (!f->tables) return PACE_E_MEMORY;
    for (; f->count < count; f->count++)
        PACE_TRY(pace_step_rows_open(&f->tables[f->count], paths[f->count], &(pace_step_defaults){options->device}));
    PACE_TRY(pace_step_rows_fit(&f->fit, &f->score, f->tables, count, &f->pricer, NULL, NULL));
    if (options->device) snprintf(f->fit.on, sizeof f->fit.on, "%.95s", options->device);
    if (options->fit_path) PACE_TRY(pace_step_fit_save(&f->fit, options->fit_path));
    PACE_TRY(pace_report_new(report, "fit", "Fit of steps"));
    pace_report_set_command(*report, options->command, options->command_count);
    return build_fit(*report, f, options);
}

pace_status pace_fit_steps(pace_report **out, const char *const *paths, size_t path_count,
                           const pace_rows_options *options) {
    fitted f = {0};
    pace_report *report = NULL;
    pace_status status = run_fit(&report, &f, paths, path_count, options);
    for (size_t i = 0; i < f.count; i++) pace_step_rows_free(&f.tables[i]);
    pace_free(f.tables);
    pace_step_pricer_close(&f.pricer);
    return pace_report_give(out, report, status);
}
