/* The row kind "scaling": one model on some workers of a machine, with one approach to share gradients. */
#include "ask/rows/fit_findings.h"
#include "ask/rows/left_out.h"
#include "ask/rows/row_kind.h"
#include "base/print.h"
#include "ask/predict/scaling_asked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const pace_rows_options *options;
    pace_scaling_asked asked;
    PACE_VEC(pace_scaling_rows) tables;
    pace_scaling_fit fit;
    pace_scaling_score score;
    pace_left_out left_out;
    bool fitted;
} scalings;

static void close_scalings(void *state) {
    scalings *s = state;
    PACE_VEC_FREE_EACH(&s->tables, pace_scaling_rows_free);
    pace_scaling_asked_close(&s->asked);
}

static pace_status open_scalings(void *state, const pace_rows_options *options) {
    scalings *s = state;
    pace_machine machine;
    s->options = options;
    if (options->device) PACE_TRY(pace_machine_asked(&machine, options->context->catalog, options->device));
    s->asked.on = options->device;
    return pace_scaling_asked_open(&s->asked, options->context->catalog);
}

static pace_status load_fit(void *state, const char *path) {
    scalings *s = state;
    PACE_TRY(pace_scaling_fit_load(&s->fit, path));
    s->fitted = true;
    return PACE_OK;
}

/* A batch that the row does not say; why there is none, it says. */
static void complete(pace_scaling_row *row, pace_scaling_asked *asked) {
    if (pace_scaling_complete(row, asked) != PACE_OK)
        pace_snprintf(row->status, sizeof row->status, "%s", pace_message_in_answer());
}

static pace_status read_table(void *state, pace_input *input) {
    scalings *s = state;
    pace_scaling_rows rows;
    PACE_TRY(pace_scaling_rows_read(&rows, s->options->context->catalog, input, s->options->device));
    for (size_t i = 0; i < rows.rows.count; i++) complete(&rows.rows.items[i], &s->asked);
    return PACE_KEEP(&s->tables, rows, pace_scaling_rows_free(&rows));
}

static pace_row_table table_of(const void *state, size_t table) {
    const pace_scaling_rows *rows = &((const scalings *)state)->tables.items[table];
    return (pace_row_table){&rows->csv, rows->csv.name, rows->csv.bytes, rows->rows.count, false};
}

static const pace_scaling_row *row_of(const void *state, size_t table, size_t question) {
    return &((const scalings *)state)->tables.items[table].rows.items[question];
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const pace_scaling_row *row = row_of(state, table, question);
    bool measured = !*row->status && row->measured > 0;
    *out = (pace_row_question){row->row, measured ? row->batch * row->workers / row->measured : NAN};
}

/* What was assumed, and which cells change nothing. */
static void say_how(pace_row_answer *out, const pace_scaling_asked *asked, const pace_scaling_row *row) {
    const char *unused[] = {*row->unused_placement ? "placement" : "", asked->unused_servers ? "servers" : "",
                            !asked->took_on && pace_row_names_other(row->device, asked->on_device) ? "device" : ""};
    if (asked->took_on) snprintf(out->status, sizeof out->status, "took --on for \"%.80s\"", row->machine);
    else if (row->batch_assumed) pace_snprintf(out->status, sizeof out->status, "assumed a batch of %g", row->batch);
    else snprintf(out->status, sizeof out->status, "ok");
    pace_row_say_unused(out, unused, PACE_COUNT(unused));
    pace_row_say_unmeasured(out, row->unmeasured);
}

/* In the table's own measure; the slow end of the step is the low end of a rate. */
static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    scalings *s = state;
    const pace_scaling_rows *rows = &s->tables.items[table];
    const pace_scaling_row *row = row_of(state, table, question);
    bool seconds = pace_scaling_measure_unit_s(rows->measure) > 0;
    s->asked.took_on = false;
    out->known =
        !*row->status && pace_scaling_answer(&out->time_s, &s->asked, row, s->fitted ? &s->fit : NULL) == PACE_OK;
    out->unit = pace_scaling_measure_names[rows->measure];
    double slow = pace_estimate_high(out->time_s), fast = pace_estimate_low(out->time_s);
    double times[] = {out->time_s.median, seconds ? fast : slow, seconds ? slow : fast};
    for (int i = 0; i < 3; i++) out->values[i] = pace_scaling_measure(rows, row, times[i]);
    if (!out->known)
        snprintf(out->status, sizeof out->status, "%s", *row->status ? row->status : pace_message_in_answer());
    else say_how(out, &s->asked, row);
    if (out->known && s->asked.beyond) pace_snprintf(out->beyond, sizeof out->beyond, "%s", s->asked.beyond);
    out->batch_assumed = out->known && row->batch_assumed;
    out->fitting = out->known ? s->asked.fitting : PACE_FITS;
    out->room = s->asked.room;
    out->cells[0].text = out->known ? pace_step_fitting_names[s->asked.fitting] : "";
}

/* Rows that do not say what ran have intervals that are as wide for it. */
static pace_status remark(pace_findings *out, const void *state) {
    const scalings *s = state;
    size_t silent = 0, all = 0;
    for (size_t t = 0; t < s->tables.count; t++)
        for (size_t i = 0; i < s->tables.items[t].rows.count; i++, all++)
            silent += !pace_scaling_says_recipe(row_of(s, t, i));
    if (!silent || s->fitted) return PACE_OK;
    pace_doubt_catalog doubts;
    PACE_TRY(pace_doubt_catalog_load(&doubts, s->options->context->catalog));
    const pace_doubt_words *words = &doubts.words[PACE_DOUBT_ROW_RECIPE];
    pace_found_warn(out, PACE_WARN_WIDE_INTERVAL,
                    "%zu of %zu rows are known no better than within a factor of %.1f: %s (removed by %s)", silent, all,
                    exp(PACE_NORMAL_90 * doubts.doubts.figure[PACE_DOUBT_ROW_RECIPE]), words->says, words->removed_by);
    return PACE_OK;
}

static pace_status advise(char *out, size_t size, void *state, size_t table, size_t question) {
    scalings *s = state;
    return pace_scaling_row_advise(out, size, &s->asked, row_of(state, table, question));
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

static pace_status add_sample(scalings *s, pace_scaling_samples *samples, const pace_scaling_rows *table,
                              const pace_scaling_row *row) {
    pace_scaling_sample sample;
    pace_status status = PACE_E_INPUT;
    bool measured = row->measured > 0;
    if (!*row->status && measured) status = pace_scaling_sample_of(&sample, &s->asked, row);
    if (status == PACE_E_MEMORY) return status;
    if (status == PACE_OK) return PACE_PUSH(samples, sample);
    const char *why = *row->status       ? row->status
                      : measured         ? pace_message_in_answer()
                      : *row->unmeasured ? row->unmeasured
                                         : "it was not measured";
    pace_left_out_add(&s->left_out, &table->csv, table->csv.name, row->row, why);
    return PACE_OK;
}

static pace_status add_samples(scalings *s, pace_scaling_samples *samples, pace_row_keep keep, void *context) {
    s->left_out = (pace_left_out){0};
    for (size_t t = 0; t < s->tables.count; t++)
        for (size_t i = 0; i < s->tables.items[t].rows.count; i++)
            if (!keep || keep(context, t, i)) PACE_TRY(add_sample(s, samples, &s->tables.items[t], row_of(s, t, i)));
    return PACE_OK;
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    scalings *s = state;
    pace_scaling_samples samples = {0};
    s->fitted = false;
    pace_status status = add_samples(s, &samples, keep, context);
    if (status == PACE_OK)
        status = pace_scaling_fit_learn(&s->fit, &s->score, &samples, s->options->split, s->asked.recipe_spread);
    PACE_VEC_FREE(&samples);
    s->fitted = status == PACE_OK;
    return status;
}

static pace_status save(const void *state, const char *path) {
    return pace_scaling_fit_save(&((const scalings *)state)->fit, path);
}

static void put_factors(pace_findings *out, const pace_scaling_fit *fit) {
    const struct {
        const char *name;
        double value;
    } all[] = {{"time of one worker", fit->compute},
               {"time of exchanges inside a node", fit->inside},
               {"time of exchanges between nodes", fit->between},
               {"seconds of every step besides", fit->fixed_s},
               {"jitter, a share of the step", fit->jitter}}; /* last: below 0 it is the approach's own */
    pace_found_factors(out);
    for (size_t i = 0; i < PACE_COUNT(all) - (fit->jitter < 0); i++) {
        pace_found_cell_text(out, all[i].name);
        pace_found_cell_number(out, all[i].value);
    }
    pace_found_groups(out, "groups", "What is left, by group", fit->groups, fit->group_count);
}

static pace_status describe(pace_findings *out, const void *state) {
    const scalings *s = state;
    const char *file = s->options->fit_path, *unit = s->score.held_out;
    const pace_held_out *error = &s->score.error;
    pace_found_left_out(out, &s->left_out);
    pace_found_int(out, "rows", error->rows);
    pace_found_int(out, "rows_left_out", s->left_out.rows);
    pace_found_text(out, "held_out", unit);
    pace_found_text(out, "chosen", s->score.chosen);
    pace_found_text(out, "file", file);
    char others[64] = "";
    if (s->score.of_models.rows)
        pace_snprintf(others, sizeof others, ", of models that a fit did not see by %.1f %%",
                      100 * s->score.of_models.mape);
    pace_found_say(out, PACE_FOUND_ANSWER,
                   "Fitted %s to %zu rows%s%s; rows held out are off by %.1f %%%s (by formula %.1f %%).",
                   s->score.chosen, error->rows, file ? ", written to " : "", file ? file : "", 100 * error->mape,
                   others, 100 * error->formula_mape);
    pace_found_held_out(out, error);
    put_factors(out, &s->fit);
    pace_found_say(
        out, PACE_FOUND_NOTE,
        "Rows of one %s are held out together, %zu times; which factors are fitted is chosen by that. Models "
        "that the fit did not see keep %.0f %% of what it says of one worker's time (of the logarithm). The "
        "fit that is kept saw all rows.",
        strcmp(unit, "row") == 0 ? "batch and number of workers" : unit, s->score.units, 100 * s->fit.unseen_share);
    return PACE_OK;
}

static int claims(const pace_columns *columns, const pace_csv *csv) {
    static const char *const words[] = {"model", "workers", "rate", "approach", NULL};
    return pace_columns_present(columns, "scaling", csv, words) == 4 ? 40 : 0;
}

static const pace_column answer_columns[] = {{"fits", "fits", PACE_SHOW_TEXT}};

const pace_row_kind pace_scaling_kind = {.name = "scaling",
                                         .columns = answer_columns,
                                         .column_count = 1,
                                         .columns_before_status = 1,
                                         .title = "Fit of scaling",
                                         .claims = claims,
                                         .size = sizeof(scalings),
                                         .open = open_scalings,
                                         .close = close_scalings,
                                         .load = load_fit,
                                         .read = read_table,
                                         .table = table_of,
                                         .question = question_of,
                                         .answer = answer_row,
                                         .advise = advise,
                                         .remark = remark,
                                         .learn = learn,
                                         .save = save,
                                         .describe = describe};
