/* The row kind "step": one training step of a model, in one configuration, on one machine. */
#include "ask/rows/fit_findings.h"
#include "ask/rows/row_kind.h"
#include "ask/step_rows/step_fit.h"
#include "ask/predict/step_memory.h"
#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const pace_rows_options *options;
    pace_step_pricer pricer;
    PACE_VEC(pace_step_rows) tables;
    pace_step_fit fit;
    pace_step_fit_score score;
    bool fitted, loaded; /* loaded: from a file, whose unit counts where a table measured nothing */
} steps;

static void close_steps(void *state) {
    steps *s = state;
    PACE_VEC_FREE_EACH(&s->tables, pace_step_rows_free);
    pace_step_pricer_close(&s->pricer);
}

static pace_status open_steps(void *state, const pace_rows_options *options) {
    steps *s = state;
    s->options = options;
    return pace_step_pricer_open(&s->pricer, options->context->catalog);
}

static pace_status load_fit(void *state, const char *path) {
    steps *s = state;
    PACE_TRY(pace_step_fit_load(&s->fit, path));
    s->fitted = s->loaded = true;
    return PACE_OK;
}

static pace_status read_table(void *state, pace_input *input) {
    steps *s = state;
    pace_step_rows rows;
    const char *on = s->options->device ? s->options->device : s->loaded && *s->fit.on ? s->fit.on : NULL;
    PACE_TRY(pace_step_rows_read(&rows, s->options->context->catalog, input, &(pace_step_defaults){on}));
    return PACE_KEEP(&s->tables, rows, pace_step_rows_free(&rows));
}

static pace_row_table table_of(const void *state, size_t table) {
    const pace_step_rows *rows = &((const steps *)state)->tables.items[table];
    return (pace_row_table){&rows->csv, rows->csv.name, rows->csv.bytes, rows->rows.count, false};
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const pace_step_row *row = &((const steps *)state)->tables.items[table].rows.items[question];
    *out = (pace_row_question){row->row, row->model && row->measured_s > 0 ? row->measured_s : NAN};
}

/* In the row's unit; the higher a rate, the less time. */
static void set_values(pace_row_answer *out, const pace_step_row *row, double unit_s) {
    pace_row_answer_time(out, unit_s > 0 ? unit_s : 1);
    if (unit_s > 0) return;
    double amount = pace_step_row_amount(row, out->unit);
    double rates[] = {amount / out->values[0], amount / out->values[2], amount / out->values[1]};
    memcpy(out->values, rates, sizeof rates);
}

static void set_status(pace_row_answer *out, const pace_step_row *row, const pace_step_answer *answer) {
    static const char *const fits[] = {"", "may not fit into memory", "does not fit into memory"};
    const char *fit = answer->room.of_host ? "does not fit into its host's memory"
                      : answer->closely    ? "fits closely into memory"
                                           : fits[answer->fitting];
    const char *again = row->ran ? "assumed that some is recomputed" : "assumed full recomputation";
    const char *notes[] = {fit, answer->recomputed ? again : "", row->status};
    for (size_t i = 0; i < PACE_COUNT(notes); i++)
        if (*notes[i]) pace_list(out->status, sizeof out->status, "; ", "%s", notes[i]);
    if (!*out->status) snprintf(out->status, sizeof out->status, "ok");
}

static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    steps *s = state;
    const pace_step_rows *rows = &s->tables.items[table];
    const pace_step_row *row = &rows->rows.items[question];
    bool silent = !(row->measured_s > 0) && s->loaded;
    pace_step_answer answer = {.memory_bytes = NAN, .last_rank_bytes = NAN, .process_bytes = NAN};
    out->unit = silent ? s->fit.unit : row->unit;
    out->known = row->model && pace_step_row_answer(&answer, &s->pricer, row, s->fitted ? &s->fit : NULL) == PACE_OK;
    out->time_s = answer.time_s;
    if (out->known && s->fitted) {
        const pace_step_case asked = pace_step_row_case(row);
        const char *beyond = pace_step_fit_beyond(&s->fit, &asked);
        pace_snprintf(out->beyond, sizeof out->beyond, "%s", beyond ? beyond : "");
    }
    out->batch_assumed = out->known && row->batch_assumed;
    out->fitting = answer.fitting;
    out->room = answer.room;
    out->cells[3].text = out->known ? pace_step_fitting_names[answer.fitting] : "";
    out->cells[0].number = out->known ? answer.memory_bytes : NAN;
    out->cells[1].number = out->known ? answer.last_rank_bytes : NAN;
    out->cells[2].number = out->known ? answer.process_bytes : NAN;
    if (out->known) {
        set_values(out, row, silent ? s->fit.unit_s : row->unit_s);
        set_status(out, row, &answer);
    } else snprintf(out->status, sizeof out->status, "%s", row->model ? pace_message_in_answer() : row->status);
}

static pace_status advise(char *out, size_t size, void *state, size_t table, size_t question) {
    steps *s = state;
    const pace_step_row *row = &s->tables.items[table].rows.items[question];
    pace_step_solution solution;
    PACE_TRY(pace_step_row_solve(&solution, &s->pricer, row));
    const pace_step_case asked = pace_step_row_case(row);
    const pace_memory_asked memory = {.asked = &asked,
                                      .pricer = &s->pricer,
                                      .machine = row->exchange ? &row->exchange->machine : NULL,
                                      .spread_tables = pace_model_has_tables(row->model),
                                      .option = ""};
    return pace_step_advise(out, size, &memory, &solution.plan);
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    steps *s = state;
    s->fitted = false;
    PACE_TRY(pace_step_rows_fit(&s->fit, &s->score, s->tables.items, s->tables.count, &s->pricer, keep, context));
    if (s->options->device) snprintf(s->fit.on, sizeof s->fit.on, "%.95s", s->options->device);
    s->fitted = true;
    return PACE_OK;
}

static pace_status save(const void *state, const char *path) {
    return pace_step_fit_save(&((const steps *)state)->fit, path);
}

static void put_factors(pace_findings *out, const pace_step_fit *fit) {
    const double *factors = (const double *)&fit->factors;
    pace_found_factors(out);
    for (int i = 0; i < PACE_STEP_FACTORS; i++) {
        pace_found_cell_text(out, pace_step_factor_names[i]);
        pace_found_cell_number(out, factors[i]);
    }
    pace_found_groups(out, "groups", "What is left, by group", fit->groups, fit->group_count);
    pace_found_groups(out, "models", "What is left, by model", fit->models, fit->model_count);
}

static pace_status describe(pace_findings *out, const void *state) {
    const steps *s = state;
    const char *file = s->options->fit_path;
    const pace_held_out *error = &s->score.error;
    pace_found_left_out(out, &s->score.left_out);
    pace_found_int(out, "rows", error->rows);
    pace_found_int(out, "rows_left_out", s->score.left_out.rows);
    pace_found_text(out, "file", file);
    char own[80] = "";
    if (s->score.of_models.rows)
        pace_snprintf(own, sizeof own, ", by %.1f %% where the fit has other rows of their model",
                      100 * s->score.of_models.mape);
    pace_found_say(out, PACE_FOUND_ANSWER,
                   "Fitted to %zu steps%s%s; rows held out are off by %.1f %%%s (by formula %.1f %%).", error->rows,
                   file ? ", written to " : "", file ? file : "", 100 * error->mape, own, 100 * error->formula_mape);
    pace_found_held_out(out, error);
    put_factors(out, &s->fit);
    pace_found_say(
        out, PACE_FOUND_NOTE,
        "Rows of one model are held out together, %zu times; how firmly factors are held to 1, and whether "
        "groups have a factor of their own, is chosen by that. What is left of a model's own rows is scored on "
        "other ways to share the work. The fit that is kept saw all rows.",
        s->score.folds);
    return PACE_OK;
}

/* Five words of steps outweigh one that also names an operation ("family"); a model and what only steps are measured in
 * outweigh letters that are also sizes of a product; a model on something is a step where nothing else is claimed. */
static int claims(const pace_columns *columns, const pace_csv *csv) {
    static const char *const words[] = {"model",    "hidden",      "layers",       "n_gpu",    "tp",         "pp", "dp",
                                        "params_b", "micro_batch", "global_batch", "sharding", "zero_stage", NULL};
    static const char *const model[] = {"model", NULL}, *const where[] = {"device", "machine", "seq", "framework",
                                                                          NULL};
    static const char *const measured[] = {"s_per_step",           "ms_per_step",
                                           "steps_per_s",          "samples_per_s",
                                           "tokens_per_s",         "samples_per_s_per_gpu",
                                           "tokens_per_s_per_gpu", NULL};
    int present = pace_columns_present(columns, "step", csv, words);
    if (present >= 3) return present >= 5 ? 60 : 30;
    if (!pace_columns_present(columns, "step", csv, model)) return 0;
    return pace_columns_present(columns, "step", csv, measured) ? 25
           : pace_columns_present(columns, "step", csv, where)  ? 5
                                                                : 0;
}

static const pace_column answer_columns[] = {{"memory_bytes", "memory_bytes", PACE_SHOW_BYTES},
                                             {"last_rank_bytes", "last_rank_bytes", PACE_SHOW_BYTES},
                                             {"process_bytes", "process_bytes", PACE_SHOW_BYTES},
                                             {"fits", "fits", PACE_SHOW_TEXT}};

const pace_row_kind pace_step_kind = {.name = "step",
                                      .title = "Fit of steps",
                                      .columns = answer_columns,
                                      .column_count = 4,
                                      .columns_before_status = 4,
                                      .claims = claims,
                                      .size = sizeof(steps),
                                      .open = open_steps,
                                      .close = close_steps,
                                      .load = load_fit,
                                      .read = read_table,
                                      .table = table_of,
                                      .question = question_of,
                                      .answer = answer_row,
                                      .advise = advise,
                                      .learn = learn,
                                      .save = save,
                                      .describe = describe};
