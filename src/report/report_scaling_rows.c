/* `paceline predict --rows --kind scaling` and `paceline fit --kind scaling`: models on many workers, row by row. */
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "ask/scaling_asked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- predict ------------------------------------------------------------------------------------------------------ */

static const pace_column answer_columns[] = {PACE_ANSWERED_TIME, PACE_ANSWERED_STATUS};

/* In the table's own measure; the slow end of the step is the low end of a rate. */
static void add_answer(pace_answered_rows *out, pace_scaling_asked *a, const pace_scaling_rows *rows,
                       const pace_scaling_row *row, const pace_scaling_fit *fit) {
    pace_estimate s = {0};
    char note[128] = "ok";
    a->took_on = false;
    bool known = !*row->status && pace_scaling_answer(&s, a, row, fit) == PACE_OK;
    bool seconds = rows->measure == PACE_SCALING_SECONDS;
    double slow = pace_estimate_high(s), fast = pace_estimate_low(s);
    double values[] = {pace_scaling_measure(rows, row, s.median),
                       pace_scaling_measure(rows, row, seconds ? fast : slow),
                       pace_scaling_measure(rows, row, seconds ? slow : fast)};
    pace_answered_time(out, known ? values : NULL, pace_scaling_measure_names[rows->measure], s.rung);
    if (row->one_sample) snprintf(note, sizeof note, "assumed a batch of 1");
    if (a->took_on) snprintf(note, sizeof note, "took --on for \"%.80s\"", row->machine);
    pace_table_text(out->table, known ? note : *row->status ? row->status : pace_message());
}

static pace_status put_rows(pace_report *report, pace_scaling_asked *a, const pace_scaling_rows *rows,
                            const pace_scaling_fit *fit) {
    pace_answered_rows out;
    PACE_TRY(
        pace_answered_begin(&out, report, &rows->csv, answer_columns, sizeof answer_columns / sizeof *answer_columns));
    for (size_t i = 0; i < rows->rows.count; i++) {
        pace_answered_row(&out, i);
        add_answer(&out, a, rows, &rows->rows.items[i], fit);
    }
    return pace_answered_end(&out, report);
}

pace_status pace_predict_scaling_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    pace_scaling_asked a = {0};
    pace_scaling_rows rows = {0};
    pace_scaling_fit fit;
    pace_report *report = NULL;
    pace_status status = pace_scaling_asked_open(&a);
    a.on = options->device;
    if (status == PACE_OK && options->fit_path) status = pace_scaling_fit_load(&fit, options->fit_path);
    if (status == PACE_OK) status = pace_scaling_rows_open(&rows, path, options->device);
    if (status == PACE_OK) status = pace_answered_report(&report, options, rows.csv.name, rows.csv.bytes);
    if (status == PACE_OK) status = put_rows(report, &a, &rows, options->fit_path ? &fit : NULL);
    pace_scaling_rows_free(&rows);
    pace_scaling_asked_close(&a);
    return pace_report_give(out, report, status);
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_scaling_asked asked;
    pace_scaling_rows *tables;
    size_t count, left_out;
    pace_scaling_samples samples;
    pace_scaling_fit fit;
    pace_scaling_score score;
} fitted;

static pace_status add_samples(fitted *f, const pace_scaling_rows *rows) {
    for (size_t i = 0; i < rows->rows.count; i++) {
        const pace_scaling_row *row = &rows->rows.items[i];
        pace_scaling_sample sample;
        pace_status status = PACE_E_INPUT;
        if (!*row->status && row->measured > 0) status = pace_scaling_sample_of(&sample, &f->asked, row);
        if (status == PACE_E_MEMORY) return status;
        if (status == PACE_OK) PACE_TRY(PACE_PUSH(&f->samples, sample));
        else f->left_out++;
    }
    return PACE_OK;
}

static void put_factors(pace_node *root, const pace_scaling_fit *fit) {
    static const pace_column columns[] = {{"factor", "What was fitted", PACE_SHOW_TEXT},
                                          {"value", "value", PACE_SHOW_REAL}};
    static const pace_column groups[] = {{"group", "What is left, by group", PACE_SHOW_TEXT},
                                         {"rows", "rows", PACE_SHOW_INT},
                                         {"factor", "factor", PACE_SHOW_REAL}};
    const struct {
        const char *name;
        double value;
    } all[] = {{"time of one worker", fit->compute},
               {"time of exchanges inside a node", fit->inside},
               {"time of exchanges between nodes", fit->between},
               {"seconds of every step besides", fit->fixed_s},
               {"jitter, a share of the step", fit->jitter}}; /* last: below 0 it is the approach's own */
    pace_node *table = pace_node_table(root, "factors", "Factors", PACE_FOR_ALL, columns, 2, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all - (fit->jitter < 0); i++) {
        pace_table_row(table);
        pace_table_text(table, all[i].name);
        pace_table_real(table, all[i].value);
    }
    table = pace_node_table(root, "groups", "Groups", PACE_FOR_ALL, groups, 3, 0);
    for (unsigned i = 0; i < fit->group_count; i++) {
        pace_table_row(table);
        pace_table_text(table, fit->groups[i].name);
        pace_table_int(table, (int64_t)fit->groups[i].rows);
        pace_table_real(table, exp(fit->groups[i].log_factor));
    }
}

static pace_status build_fit(pace_report *report, const fitted *f, const pace_rows_options *options) {
    pace_node *root = pace_report_root(report);
    pace_report_set_command(report, options->command, options->command_count);
    for (size_t i = 0; i < f->count; i++) pace_report_add_input(report, f->tables[i].csv.name, f->tables[i].csv.bytes);
    if (f->left_out)
        pace_report_warn(report, "%zu rows were left out: not measured, or they cannot be asked", f->left_out);
    pace_node_int(root, "rows", (int64_t)f->score.error.rows);
    pace_node_int(root, "rows_left_out", (int64_t)f->left_out);
    pace_node_text(root, "held_out", f->score.held_out);
    pace_node_text(root, "chosen", f->score.chosen);
    pace_node_text(root, "file", options->fit_path);
    pace_node_sentence(root, true, "Fitted %s to %zu rows%s%s; rows held out are off by %.1f %% (by formula %.1f %%).",
                       f->score.chosen, f->score.error.rows, options->fit_path ? ", written to " : "",
                       options->fit_path ? options->fit_path : "", 100 * f->score.error.mape,
                       100 * f->score.error.formula_mape);
    pace_answered_held_out(root, &f->score.error);
    put_factors(root, &f->fit);
    pace_node_note(root,
                   "Rows of one %s are held out together, %zu times; which factors are fitted is chosen by that. The "
                   "fit that is kept saw all rows.",
                   strcmp(f->score.held_out, "row") == 0 ? "batch and number of workers" : f->score.held_out,
                   f->score.units);
    return pace_report_status(report);
}

static pace_status run_fit(pace_report **report, fitted *f, const char *const *paths, size_t count,
                           const pace_rows_options *options) {
    f->asked.on = options->device;
    PACE_TRY(pace_scaling_asked_open(&f->asked));
    f->tables = pace_alloc(count, sizeof *f->tables);
    if (!f->tables) return PACE_E_MEMORY;
    for (; f->count < count; f->count++)
        PACE_TRY(pace_scaling_rows_open(&f->tables[f->count], paths[f->count], options->device));
    for (size_t i = 0; i < count; i++) PACE_TRY(add_samples(f, &f->tables[i]));
    PACE_TRY(pace_scaling_fit_learn(&f->fit, &f->score, &f->samples, options->split));
    if (options->fit_path) PACE_TRY(pace_scaling_fit_save(&f->fit, options->fit_path));
    PACE_TRY(pace_report_new(report, "fit", "Fit of scaling"));
    return build_fit(*report, f, options);
}

pace_status pace_fit_scaling(pace_report **out, const char *const *paths, size_t path_count,
                             const pace_rows_options *options) {
    fitted f = {0};
    pace_report *report = NULL;
    pace_status status = run_fit(&report, &f, paths, path_count, options);
    for (size_t i = 0; i < f.count; i++) pace_scaling_rows_free(&f.tables[i]);
    pace_free(f.tables);
    PACE_VEC_FREE(&f.samples);
    pace_scaling_asked_close(&f.asked);
    return pace_report_give(out, report, status);
}
