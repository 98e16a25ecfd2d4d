/* The report of `paceline fit`: how well rows were predicted that the fit did not see. */
#include "machine/device_resolve.h"
#include "report/fit_kinds.h"
#include "report/report.h"
#include "ask/fit_rows.h"
#include "ask/table_kind.h"

#include <math.h>
#include <string.h>

static const pace_column family_columns[] = {
    {"family", "Family", PACE_SHOW_TEXT},    {"rows", "Rows", PACE_SHOW_INT},
    {"held_out", "Held out", PACE_SHOW_INT}, {"gmae", "GMAE", PACE_SHOW_SHARE},
    {"mape", "MAPE", PACE_SHOW_SHARE},       {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
    {"largest", "Largest", PACE_SHOW_SHARE}, {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
};

typedef struct {
    pace_device_catalog catalog;
    pace_kernel_rows *tables;
    size_t table_count;
} opened;

static void close_all(opened *o) {
    for (size_t i = 0; i < o->table_count; i++) pace_kernel_rows_free(&o->tables[i]);
    pace_free(o->tables);
    pace_device_catalog_free(&o->catalog);
}

static pace_status open_all(opened *o, const char *const *paths, size_t count, const pace_rows_options *options) {
    const pace_device *device = NULL;
    PACE_TRY(pace_device_catalog_load(&o->catalog));
    if (options->device) PACE_TRY(pace_device_resolve(&device, &o->catalog, options->device, 0));
    o->tables = pace_alloc(count, sizeof *o->tables);
    if (!o->tables) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(pace_kernel_rows_open(&o->tables[i], paths[i], &o->catalog, device));
        o->table_count++;
    }
    return PACE_OK;
}

static void family_row(pace_node *table, const pace_fit_family *family) {
    const pace_learned_score *score = &family->score;
    double figures[] = {score->gmae, score->mape, score->signed_mean, score->largest, score->coverage};
    pace_table_row(table);
    pace_table_text(table, pace_op_family_name(family->family));
    pace_table_int(table, (int64_t)family->rows);
    pace_table_int(table, (int64_t)score->held_out);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (score->held_out > 0) pace_table_real(table, figures[i]);
        else pace_table_none(table);
    }
}

static pace_status describe(pace_report **out, const opened *o, const pace_fit_outcome *outcome,
                            const pace_rows_options *options) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "fit", "Fit"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < o->table_count; i++)
        pace_report_add_input(report, o->tables[i].csv.name, o->tables[i].csv.bytes);
    size_t fitted = 0;
    for (size_t i = 0; i < outcome->families.count; i++) {
        const pace_fit_family *family = &outcome->families.items[i];
        if (family->learned) fitted += family->rows;
        else
            pace_report_warn(report, "family %s: %zu rows are too few to learn from (at least %d)",
                             pace_op_family_name(family->family), family->rows, PACE_LEARN_LEAST);
    }
    if (outcome->unusable > 0)
        pace_report_warn(report, "%zu rows were left out; the first, %s", outcome->unusable, outcome->first_status);
    pace_node_int(root, "rows", (int64_t)outcome->measured);
    pace_node_int(root, "rows_left_out", (int64_t)outcome->unusable);
    pace_node_text(root, "split", options->split ? options->split : "shape");
    pace_node_text(root, "file", options->fit_path);
    pace_node_sentence(root, true, "Learned from %zu measurements%s%s.", fitted,
                       options->fit_path ? ", written to " : "", options->fit_path ? options->fit_path : "");
    pace_node *table = pace_node_table(root, "families", "Error on rows that were held out", PACE_FOR_ALL,
                                       PACE_COLUMNS(family_columns), 0);
    for (size_t i = 0; i < outcome->families.count; i++) family_row(table, &outcome->families.items[i]);
    pace_node_note(root,
                   "A tenth of the groups (split: %s) is scored, another tenth sets intervals and stops the trees; the "
                   "fit that is kept saw all rows. GMAE = exp(mean ln(|error| + 0.0004)).",
                   options->split ? options->split : "shape");
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}

static pace_status fit_opened(pace_report **out, const opened *o, const pace_rows_options *options) {
    pace_fit_model fit;
    pace_fit_outcome outcome;
    pace_fit_rows_options how = {options->split, options->seed};
    PACE_TRY(pace_fit_rows(&fit, &outcome, o->tables, o->table_count, &how, NULL, NULL));
    pace_status status = options->fit_path ? pace_fit_save(&fit, options->fit_path) : PACE_OK;
    if (status == PACE_OK) status = describe(out, o, &outcome, options);
    pace_fit_free(&fit);
    pace_fit_outcome_free(&outcome);
    return status;
}

static pace_status fit_kernels(pace_report **out, const char *const *paths, size_t path_count,
                               const pace_rows_options *options) {
    opened o = {0};
    pace_status status = open_all(&o, paths, path_count, options);
    if (status == PACE_OK) status = fit_opened(out, &o, options);
    close_all(&o);
    return status;
}

typedef pace_status (*fit_kind)(pace_report **out, const char *const *paths, size_t path_count,
                                const pace_rows_options *options);

static const struct {
    const char *kind;
    fit_kind fit;
} kinds[] = {{"kernel", fit_kernels},      {"exchange", pace_fit_exchange},  {"step", pace_fit_steps},
             {"job", pace_fit_jobs},       {"overhead", pace_fit_overheads}, {"profiler", pace_fit_profiler},
             {"scaling", pace_fit_scaling}};

pace_status pace_fit(pace_report **out, const char *const *paths, size_t path_count, const pace_rows_options *options) {
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected at least one table of measurements");
    uint64_t failures = pace_memory_failures();
    const char *kind = options->kind ? options->kind : pace_table_kind(paths[0]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pace_report *report = NULL;
        if (strcmp(kinds[i].kind, kind) != 0) continue;
        pace_status status = kinds[i].fit(&report, paths, path_count, options);
        if (status == PACE_OK && !options->kind && i > 0)
            pace_report_warn(report, "taken as --kind %s, by the columns of the first", kind);
        return pace_report_settle(out, report, status, failures);
    }
    return pace_fail(PACE_E_USAGE,
                     "--kind: expected kernel, exchange, step, scaling, job, overhead or profiler, found \"%.40s\"",
                     kind);
}
