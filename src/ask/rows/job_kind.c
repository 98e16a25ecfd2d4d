/* The row kind "job": one training job by the features of Alibaba-PAI's model. */
#include "ask/rows/job_rows.h"
#include "ask/fleet/job_assume.h"
#include "ask/rows/left_out.h"
#include "ask/rows/row_kind.h"
#include "ask/rows/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const pace_rows_options *options;
    pace_job_catalog catalog;
    pace_job_setting setting; /* what was assumed */
    pace_job_setting fitted;  /* the same with the fit's figures, from which rows are answered */
    PACE_VEC(pace_job_rows) tables;
    PACE_VEC(pace_job_sample) samples;
    PACE_VEC(const char *) machines; /* by sample; borrowed from the tables */
    double *held_s;                  /* by sample: predicted by a fit that did not see its machine */
    double prior[PACE_JOB_RESOURCES];
    pace_job_fit fit;
    pace_left_out left_out;
} jobs;

static void drop_fit(jobs *j) {
    PACE_VEC_FREE(&j->samples, &j->machines);
    pace_free(j->held_s);
    j->held_s = NULL;
    j->left_out = (pace_left_out){0};
}

static void close_jobs(void *state) {
    jobs *j = state;
    PACE_VEC_FREE_EACH(&j->tables, pace_job_rows_free);
    drop_fit(j);
    pace_job_catalog_free(&j->catalog);
}

static pace_status assume(jobs *j, const char *fit_path) {
    pace_job_assumptions words = j->options->job;
    words.on = j->options->device;
    words.fit_path = fit_path;
    pace_job_catalog_free(&j->catalog);
    pace_status status = pace_job_assume(&j->setting, &j->catalog, j->options->context->catalog, &words);
    if (status != PACE_OK) j->catalog = (pace_job_catalog){0};
    j->fitted = j->setting;
    return status;
}

static pace_status open_jobs(void *state, const pace_rows_options *options) {
    jobs *j = state;
    j->options = options;
    return assume(j, NULL);
}

static pace_status load_fit(void *state, const char *path) { return assume(state, path); }

static pace_status read_table(void *state, pace_input *input) {
    jobs *j = state;
    pace_job_rows rows;
    PACE_TRY(pace_job_rows_read(&rows, input, &j->catalog));
    return PACE_KEEP(&j->tables, rows, pace_job_rows_free(&rows));
}

static pace_row_table table_of(const void *state, size_t table) {
    const pace_job_rows *rows = &((const jobs *)state)->tables.items[table];
    return (pace_row_table){&rows->csv, rows->csv.name, rows->csv.bytes, rows->csv.rows, false};
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const pace_job_rows *rows = &((const jobs *)state)->tables.items[table];
    double step_s = rows->measured >= 0 ? rows->jobs.values[PACE_JOB_STEP_S][question] : NAN;
    *out = (pace_row_question){(uint32_t)question, !rows->faults.items[question] && step_s > 0 ? step_s : NAN};
}

static void set_parts(pace_row_answer *out, const double part_s[PACE_JOB_PARTS], const pace_job_setting *setting) {
    pace_job_change unchanged = pace_job_unchanged(setting);
    double components_s[PACE_JOB_COMPONENTS], step_s;
    pace_job_parts parts;
    for (int p = 0; p < PACE_JOB_PARTS; p++) parts.part[p][0] = part_s[p];
    pace_job_steps(&step_s, &parts, 1, &unchanged);
    pace_job_components(components_s, &parts, 0);
    out->time_s = pace_job_estimate(step_s, setting);
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) out->cells[c].number = components_s[c];
    out->cells[PACE_JOB_COMPONENTS].text = pace_job_component_names[pace_job_bottleneck(components_s)];
}

static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    const jobs *j = state;
    const pace_job_rows *rows = &j->tables.items[table];
    const char *fault = rows->faults.items[question];
    double part_s[PACE_JOB_PARTS];
    pace_job_setting setting;
    if (!fault && pace_job_rows_parts(part_s, &setting, rows, question, &j->fitted) != PACE_OK)
        fault = pace_message_in_answer();
    out->known = !fault;
    out->unit = rows->unit;
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) out->cells[c].number = NAN;
    out->cells[PACE_JOB_COMPONENTS].text = "";
    if (!fault) set_parts(out, part_s, &setting);
    pace_row_answer_time(out, rows->unit_s);
    snprintf(out->status, sizeof out->status, "%s", fault ? fault : "ok");
    if (fault) return;
    char remark[200];
    pace_job_remark(remark, sizeof remark, &rows->jobs, question, &setting);
    if (*remark) pace_append(out->status, sizeof out->status, "; %s", remark);
    pace_row_say_unmeasured(out, rows->unmeasured.items[question]);
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

/* Machines are the same when their texts are, across tables. */
static uint32_t machine_number(const jobs *j, const char *name) {
    size_t i = 0;
    while (i < j->machines.count && strcmp(j->machines.items[i], name) != 0) i++;
    return (uint32_t)i;
}

static pace_status add_row(jobs *j, const pace_job_rows *rows, size_t row) {
    pace_job_sample sample;
    bool measured = false;
    const char *fault = rows->faults.items[row], *unmeasured = rows->unmeasured.items[row];
    if (!fault) PACE_TRY(pace_job_rows_sample(&sample, &measured, rows, row, &j->setting));
    if (!measured) {
        pace_left_out_add(&j->left_out, &rows->csv, rows->csv.name, row,
                          fault         ? fault
                          : *unmeasured ? unmeasured
                                        : "no step time was measured");
        return PACE_OK;
    }
    const char *name = rows->machine_of.items[row] == SIZE_MAX ? j->setting.machine.name
                                                               : pace_csv_cell(&rows->csv, row, (size_t)rows->machine);
    sample.machine = machine_number(j, name);
    PACE_TRY(PACE_PUSH(&j->machines, name));
    return PACE_PUSH(&j->samples, sample);
}

static pace_status add_rows(jobs *j, pace_row_keep keep, void *context) {
    for (size_t t = 0; t < j->tables.count; t++)
        for (size_t row = 0; row < j->tables.items[t].jobs.count; row++)
            if (!keep || keep(context, t, row)) PACE_TRY(add_row(j, &j->tables.items[t], row));
    return PACE_OK;
}

/* Every sample from a fit of the other machines; one machine alone is its own judge. */
static pace_status hold_out(jobs *j, const pace_doubts *doubts) {
    const pace_job_sample *samples = j->samples.items;
    double sum = 0;
    if (!(j->held_s = pace_alloc(j->samples.count, sizeof *j->held_s))) return PACE_E_MEMORY;
    for (size_t i = 0; i < j->samples.count; i++) {
        pace_job_fit fit = j->fit;
        if (j->held_s[i] > 0) continue; /* of a machine that was held out before */
        if (j->fit.machines > 1)
            PACE_TRY(pace_job_fit_samples(&fit, samples, j->samples.count, samples[i].machine, j->prior,
                                          j->setting.overlap, doubts));
        for (size_t k = i; k < j->samples.count; k++)
            if (samples[k].machine == samples[i].machine)
                j->held_s[k] = pace_job_sample_time(&samples[k], fit.efficiency, j->setting.overlap);
    }
    for (size_t i = 0; i < j->samples.count; i++) sum += pow(log(j->held_s[i] / samples[i].step_s), 2);
    j->fit.spread = fmax(sqrt(sum / (double)j->samples.count), 0.01);
    return PACE_OK;
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    jobs *j = state;
    drop_fit(j);
    j->fit = (pace_job_fit){0};
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) j->prior[r] = j->setting.machine.figure[PACE_FIGURE_EFFICIENCY + r];
    PACE_TRY(add_rows(j, keep, context));
    pace_doubts doubts;
    PACE_TRY(pace_doubts_load(&doubts, j->options->context->catalog));
    PACE_TRY(pace_job_fit_samples(&j->fit, j->samples.items, j->samples.count, UINT32_MAX, j->prior, j->setting.overlap,
                                  &doubts));
    PACE_TRY(hold_out(j, &doubts));
    if (j->options->device) snprintf(j->fit.machine, sizeof j->fit.machine, "%.95s", j->options->device);
    j->fitted = j->setting;
    pace_job_fit_apply(&j->fitted, &j->fit);
    return PACE_OK;
}

static pace_status save(const void *state, const char *path) {
    return pace_job_fit_save(&((const jobs *)state)->fit, path);
}

/* Samples of one machine, or, with UINT32_MAX, of all. */
static void score_machine(pace_score *fitted, pace_score *fixed, const jobs *j, uint32_t machine) {
    for (size_t i = 0; i < j->samples.count; i++) {
        const pace_job_sample *sample = &j->samples.items[i];
        pace_estimate time_s = {j->held_s[i], j->fit.spread, PACE_RUNG_LEARNED, 0};
        if (machine != UINT32_MAX && sample->machine != machine) continue;
        pace_score_estimate(fitted, time_s, sample->step_s);
        pace_score_add(fixed, pace_job_sample_time(sample, j->prior, j->setting.overlap), sample->step_s, true);
    }
}

static void put_machine(pace_findings *out, const jobs *j, uint32_t machine, const char *name) {
    pace_score fitted = {0}, fixed = {0};
    score_machine(&fitted, &fixed, j, machine);
    pace_found_cell_text(out, name);
    PACE_FOUND_NUMBERS(out, (double)fitted.count, pace_score_mape(&fitted), pace_score_signed_mean(&fitted),
                       fitted.largest, pace_score_coverage(&fitted), pace_score_mape(&fixed));
}

static void put_machines(pace_findings *out, const jobs *j) {
    static const pace_column columns[] = {
        {"machine", "Held out", PACE_SHOW_TEXT},
        {"rows", "Rows", PACE_SHOW_INT},
        {"mape", "MAPE", PACE_SHOW_SHARE},
        {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE},
        {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
        {"fixed_mape", "MAPE unfitted", PACE_SHOW_SHARE},
    };
    pace_found_table(out, "machines", "Error on machines that were held out", PACE_COLUMNS(columns));
    for (size_t i = 0; i < j->samples.count; i++)
        if (j->samples.items[i].machine == i) put_machine(out, j, (uint32_t)i, j->machines.items[i]);
    if (j->fit.machines > 1) put_machine(out, j, UINT32_MAX, "all");
}

static void put_efficiencies(pace_findings *out, const jobs *j) {
    static const pace_column columns[] = {
        {"resource", "Resource", PACE_SHOW_TEXT},
        {"assumed", "Assumed", PACE_SHOW_SHARE},
        {"efficiency", "Fitted", PACE_SHOW_SHARE},
    };
    pace_found_table(out, "efficiencies", "Shares of the peaks", PACE_COLUMNS(columns));
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        pace_found_cell_text(out, pace_job_resource_names[r]);
        pace_found_cell_number(out, j->prior[r]);
        pace_found_cell_number(out, j->fit.efficiency[r]);
    }
}

/* Jobs that ran faster than their machine's peak say that its figures, or the jobs', are wrong. */
static void warn_of_held(pace_findings *out, const pace_job_fit *fit) {
    for (int r = 0; r < PACE_JOB_RESOURCES; r++)
        if (fit->efficiency[r] >= 1)
            pace_found_warn(out, PACE_WARN_WORK_OVERSTATED,
                            "%s is held to 1: the jobs were measured faster than the machine's peak allows",
                            pace_job_figure_names[PACE_FIGURE_EFFICIENCY + r]);
}

static pace_status describe(pace_findings *out, const void *state) {
    const jobs *j = state;
    const char *file = j->options->fit_path;
    pace_found_left_out(out, &j->left_out);
    warn_of_held(out, &j->fit);
    pace_found_int(out, "rows", j->samples.count);
    pace_found_int(out, "rows_left_out", j->left_out.rows);
    pace_found_text(out, "file", file);
    pace_found_say(out, PACE_FOUND_ANSWER, "Fitted the shares of the peaks to %zu job%s on %zu machine%s%s%s.",
                   j->fit.samples, pace_plural(j->fit.samples), j->fit.machines, pace_plural(j->fit.machines),
                   file ? ", written to " : "", file ? file : "");
    put_machines(out, j);
    put_efficiencies(out, j);
    pace_found_say(out, PACE_FOUND_NOTE, "%s",
                   j->fit.machines > 1
                       ? "Each machine is predicted by a fit of the others; the fit that is kept has all."
                       : "One machine alone: the errors are of the rows that were fitted.");
    return PACE_OK;
}

static int claims(const pace_columns *columns, const pace_csv *csv) {
    static const char *const words[] = {"flop", "memory_access_bytes", "weight_traffic_bytes", "cnodes"};
    unsigned there = 0;
    (void)columns;
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        for (size_t c = 0; c < csv->columns; c++) there += pace_same_word(words[i], pace_csv_name(csv, c));
    return there >= 2 ? 60 : 0;
}

static const pace_column answer_columns[] = {
    {"input_s", "input_s", PACE_SHOW_REAL},
    {"compute_bound_s", "compute_bound_s", PACE_SHOW_REAL},
    {"memory_bound_s", "memory_bound_s", PACE_SHOW_REAL},
    {"weight_s", "weight_s", PACE_SHOW_REAL},
    {"bottleneck", "bottleneck", PACE_SHOW_TEXT},
};

const pace_row_kind pace_job_kind = {.name = "job",
                                     .title = "Fit of jobs",
                                     .columns = answer_columns,
                                     .column_count = PACE_COUNT(answer_columns),
                                     .claims = claims,
                                     .size = sizeof(jobs),
                                     .open = open_jobs,
                                     .close = close_jobs,
                                     .load = load_fit,
                                     .read = read_table,
                                     .table = table_of,
                                     .question = question_of,
                                     .answer = answer_row,
                                     .learn = learn,
                                     .save = save,
                                     .describe = describe};
