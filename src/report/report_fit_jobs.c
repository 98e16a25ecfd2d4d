/* `paceline fit --kind job`: efficiencies from measured jobs, and how well each machine follows from the others. */
#include "report/fit_kinds.h"
#include "report/job_parts.h"
#include "ask/job_rows.h"
#include "ask/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const pace_column machine_columns[] = {
    {"machine", "Held out", PACE_SHOW_TEXT},
    {"rows", "Rows", PACE_SHOW_INT},
    {"mape", "MAPE", PACE_SHOW_SHARE},
    {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
    {"largest", "Largest", PACE_SHOW_SHARE},
    {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    {"fixed_mape", "MAPE unfitted", PACE_SHOW_SHARE},
};

static const pace_column efficiency_columns[] = {
    {"resource", "Resource", PACE_SHOW_TEXT},
    {"assumed", "Assumed", PACE_SHOW_SHARE},
    {"efficiency", "Fitted", PACE_SHOW_SHARE},
};

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_job_rows *tables;
    size_t table_count;
    PACE_VEC(pace_job_sample) samples;
    PACE_VEC(const char *) machines; /* by sample; borrowed from the tables */
    double *held_s;                  /* by sample: predicted by a fit that did not see its machine */
    double prior[PACE_JOB_RESOURCES];
    pace_job_fit fit;
    size_t unusable;
    const char *first_fault;
} fitting;

static void close_fitting(fitting *f) {
    for (size_t i = 0; i < f->table_count; i++) pace_job_rows_free(&f->tables[i]);
    pace_free(f->tables);
    pace_free(f->held_s);
    PACE_VEC_FREE(&f->samples);
    PACE_VEC_FREE(&f->machines);
    pace_job_catalog_free(&f->catalog);
}

/* Machines are the same when their texts are, across tables. */
static uint32_t machine_number(const fitting *f, const char *name) {
    size_t i = 0;
    while (i < f->machines.count && strcmp(f->machines.items[i], name) != 0) i++;
    return (uint32_t)i;
}

static pace_status add_row(fitting *f, const pace_job_rows *rows, size_t row) {
    pace_job_sample sample;
    bool measured;
    if (rows->faults.items[row] && f->unusable++ == 0) f->first_fault = rows->faults.items[row];
    if (rows->faults.items[row]) return PACE_OK;
    PACE_TRY(pace_job_rows_sample(&sample, &measured, rows, row, &f->setting));
    if (!measured && f->unusable++ == 0) f->first_fault = "no step time was measured";
    if (!measured) return PACE_OK;
    const char *name = rows->machine_of.items[row] == SIZE_MAX ? f->setting.machine.name
                                                               : pace_csv_cell(&rows->csv, row, (size_t)rows->machine);
    sample.machine = machine_number(f, name);
    PACE_TRY(PACE_PUSH(&f->machines, name));
    return PACE_PUSH(&f->samples, sample);
}

static pace_status open_fitting(fitting *f, const char *const *paths, size_t count, const pace_rows_options *options) {
    pace_job_assumptions assume = options->job;
    assume.on = options->device;
    assume.fit_path = NULL;
    PACE_TRY(pace_job_assume(&f->setting, &f->catalog, &assume));
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) f->prior[r] = f->setting.machine.figure[PACE_FIGURE_EFFICIENCY + r];
    if (!(f->tables = pace_alloc(count, sizeof *f->tables))) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(pace_job_rows_open(&f->tables[i], paths[i], &f->catalog));
        f->table_count++;
        for (size_t row = 0; row < f->tables[i].jobs.count; row++) PACE_TRY(add_row(f, &f->tables[i], row));
    }
    return PACE_OK;
}

/* Every sample from a fit of the other machines; one machine alone is its own judge. */
static pace_status hold_out(fitting *f) {
    const pace_job_sample *samples = f->samples.items;
    double sum = 0;
    if (!(f->held_s = pace_alloc(f->samples.count, sizeof *f->held_s))) return PACE_E_MEMORY;
    for (size_t i = 0; i < f->samples.count; i++) {
        pace_job_fit fit = f->fit;
        if (f->held_s[i] > 0) continue; /* of a machine that was held out before */
        if (f->fit.machines > 1)
            PACE_TRY(pace_job_fit_samples(&fit, samples, f->samples.count, samples[i].machine, f->prior,
                                          f->setting.overlap));
        for (size_t k = i; k < f->samples.count; k++)
            if (samples[k].machine == samples[i].machine)
                f->held_s[k] = pace_job_sample_time(&samples[k], fit.efficiency, f->setting.overlap);
    }
    for (size_t i = 0; i < f->samples.count; i++) sum += pow(log(f->held_s[i] / samples[i].step_s), 2);
    f->fit.spread = fmax(sqrt(sum / (double)f->samples.count), 0.01);
    return PACE_OK;
}

/* Samples of one machine, or, with UINT32_MAX, of all. */
static void score(pace_score *fitted, pace_score *fixed, const fitting *f, uint32_t machine) {
    for (size_t i = 0; i < f->samples.count; i++) {
        const pace_job_sample *sample = &f->samples.items[i];
        pace_estimate time_s = {f->held_s[i], f->fit.spread, PACE_RUNG_LEARNED};
        if (machine != UINT32_MAX && sample->machine != machine) continue;
        bool within = sample->step_s >= pace_estimate_low(time_s) && sample->step_s <= pace_estimate_high(time_s);
        pace_score_add(fitted, time_s.median, sample->step_s, within);
        pace_score_add(fixed, pace_job_sample_time(sample, f->prior, f->setting.overlap), sample->step_s, true);
    }
}

static void put_machine(pace_node *table, const fitting *f, uint32_t machine, const char *name) {
    pace_score fitted = {0}, fixed = {0};
    score(&fitted, &fixed, f, machine);
    pace_table_row(table);
    pace_table_text(table, name);
    pace_table_int(table, (int64_t)fitted.count);
    pace_table_real(table, pace_score_mape(&fitted));
    pace_table_real(table, pace_score_signed_mean(&fitted));
    pace_table_real(table, fitted.largest);
    pace_table_real(table, pace_score_coverage(&fitted));
    pace_table_real(table, pace_score_mape(&fixed));
}

static void put_tables(pace_node *root, const fitting *f) {
    pace_node *table = pace_node_table(root, "machines", "Error on machines that were held out", PACE_FOR_ALL,
                                       PACE_COLUMNS(machine_columns), 0);
    for (size_t i = 0; i < f->samples.count; i++)
        if (f->samples.items[i].machine == i) put_machine(table, f, (uint32_t)i, f->machines.items[i]);
    if (f->fit.machines > 1) put_machine(table, f, UINT32_MAX, "all");
    table =
        pace_node_table(root, "efficiencies", "Shares of the peaks", PACE_FOR_ALL, PACE_COLUMNS(efficiency_columns), 0);
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        pace_table_row(table);
        pace_table_text(table, pace_job_resource_names[r]);
        pace_table_real(table, f->prior[r]);
        pace_table_real(table, f->fit.efficiency[r]);
    }
}

static pace_status describe(pace_report *report, const fitting *f, const pace_rows_options *options) {
    pace_node *root = pace_report_root(report);
    pace_report_set_command(report, options->command, options->command_count);
    for (size_t i = 0; i < f->table_count; i++)
        pace_report_add_input(report, f->tables[i].csv.name, f->tables[i].csv.bytes);
    if (f->unusable > 0) pace_report_warn(report, "%zu rows were left out; the first: %s", f->unusable, f->first_fault);
    pace_node_int(root, "rows", (int64_t)f->samples.count);
    pace_node_int(root, "rows_left_out", (int64_t)f->unusable);
    pace_node_text(root, "file", options->fit_path);
    pace_node_sentence(root, true, "Fitted the shares of the peaks to %zu jobs on %zu machine%s%s%s.", f->fit.samples,
                       f->fit.machines, f->fit.machines == 1 ? "" : "s", options->fit_path ? ", written to " : "",
                       options->fit_path ? options->fit_path : "");
    put_tables(root, f);
    pace_node_note(root, f->fit.machines > 1
                             ? "Each machine is predicted by a fit of the others; the fit that is kept has all."
                             : "One machine alone: the errors are of the rows that were fitted.");
    return pace_report_status(report);
}

static pace_status run_fit(pace_report **report, fitting *f, const char *const *paths, size_t count,
                           const pace_rows_options *options) {
    PACE_TRY(open_fitting(f, paths, count, options));
    PACE_TRY(
        pace_job_fit_samples(&f->fit, f->samples.items, f->samples.count, UINT32_MAX, f->prior, f->setting.overlap));
    PACE_TRY(hold_out(f));
    if (options->device) snprintf(f->fit.machine, sizeof f->fit.machine, "%.95s", options->device);
    if (options->fit_path) PACE_TRY(pace_job_fit_save(&f->fit, options->fit_path));
    PACE_TRY(pace_report_new(report, "fit", "Fit of jobs"));
    return describe(*report, f, options);
}

pace_status pace_fit_jobs(pace_report **out, const char *const *paths, size_t path_count,
                          const pace_rows_options *options) {
    fitting f = {0};
    pace_report *report = NULL;
    pace_status status = run_fit(&report, &f, paths, path_count, options);
    close_fitting(&f);
    return pace_report_give(out, report, status);
}
