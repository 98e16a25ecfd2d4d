/* The report of `paceline fit`: what was learned from tables, and how well rows are predicted that the fit did not see.
 */
#include "report/engines.h"
#include "ask/rows/row_kinds.h"
#include "ask/rows/unit_doubt.h"
#include "report/predict/report_rows.h"
#include "source/inputs.h"
#include "report/show_findings.h"
#include "report/predict/unread_columns.h"

typedef struct {
    const pace_row_kind *kind;
    void *state;
    size_t tables;
    double unlike; /* how many times as long as by formula the rows took, where that is not usual, else 1 */
    pace_warnings warnings;
} fitted;

static pace_status learn(fitted *f, const pace_texts *paths, const pace_rows_options *options) {
    for (size_t i = 0; i < paths->count; i++) PACE_TRY(pace_row_kind_read_file(f->kind, f->state, paths->items[i]));
    PACE_TRY(pace_unit_doubt_of(&f->unlike, f->kind, f->state, f->tables));
    PACE_TRY(f->kind->learn(f->state, NULL, NULL));
    return options->fit_path ? f->kind->save(f->state, options->fit_path) : PACE_OK;
}

static void warn_of_unlike(pace_report *report, const fitted *f) {
    if (f->unlike == 1) return;
    pace_report_warn(report, PACE_WARN_UNIT_DOUBTED, NULL,
                     "%s take %.3g times as long as %s say (median): is their column in the unit that its name says?",
                     f->unlike > 1 ? "the rows" : "by formula the rows", f->unlike > 1 ? f->unlike : 1 / f->unlike,
                     f->unlike > 1 ? "formulas" : "they");
}

static pace_status warn_of_unread(pace_report *report, const fitted *f) {
    pace_unread_columns unread = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; i < f->tables && status == PACE_OK; i++) {
        const pace_csv *csv = f->kind->table(f->state, i).csv;
        if (csv && csv->looked) status = pace_unread_columns_add(&unread, csv, csv->looked);
    }
    if (status == PACE_OK) pace_warn_of_unread_columns(report, &unread);
    pace_unread_columns_free(&unread);
    return status;
}

static pace_status build(pace_report *report, void *context) {
    const fitted *f = context;
    pace_report_warn_all(report, &f->warnings);
    warn_of_unlike(report, f);
    pace_findings findings = {0};
    for (size_t i = 0; i < f->tables; i++) {
        pace_row_table table = f->kind->table(f->state, i);
        pace_report_add_input(report, table.name, table.bytes);
    }
    pace_status status = f->kind->describe(&findings, f->state);
    if (status == PACE_OK) status = pace_put_findings(report, &findings);
    pace_findings_free(&findings);
    return status == PACE_OK ? warn_of_unread(report, f) : status;
}

pace_status pace_fit_rows_of_kind(pace_report **out, const pace_row_kind *kind, const char *const *paths, size_t count,
                                  const pace_rows_options *options) {
    fitted f = {.kind = kind, .unlike = 1};
    pace_texts once = {0};
    pace_status status = pace_row_kind_open(&f.state, kind, options);
    if (status == PACE_OK) status = pace_paths_of_tables(&once, &f.warnings, paths, count);
    f.tables = once.count;
    if (status == PACE_OK) status = learn(&f, &once, options);
    if (status == PACE_OK) status = pace_report_build(out, "fit", kind->title ? kind->title : "Fit", build, &f);
    pace_row_kind_close(kind, f.state);
    pace_texts_free(&once);
    pace_warnings_free(&f.warnings);
    return status;
}

/* A fit is of no format of answers, whatever --format says of the answer itself. */
static pace_status check_name(const char *path) {
    static const char *const answers[] = {".html", ".htm", ".csv", ".txt", ".xml", ".folded", ".gz", ".zst"};
    for (size_t i = 0; path && i < PACE_COUNT(answers); i++)
        if (pace_has_suffix(path, answers[i]))
            return pace_fail(PACE_E_USAGE,
                             "output: holds the fit, not the answer about it: expected a name such as kernels.fit, "
                             "found '%.200s'",
                             path);
    return PACE_OK;
}

pace_status pace_fit(pace_report **out, const char *const *paths, size_t path_count, const pace_rows_options *options) {
    uint64_t failures = pace_memory_failures();
    const pace_row_kind *kind;
    pace_report *report = NULL;
    PACE_TRY(check_name(options->fit_path));
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected at least one table of measurements");
    if (options->kind) PACE_TRY(pace_row_kind_find(&kind, &pace_all_row_kinds, options->kind, false));
    else kind = pace_row_kind_of_file(&pace_all_row_kinds, options->context->catalog, paths[0]);
    pace_status status = pace_fit_rows_of_kind(&report, kind, paths, path_count, options);
    if (!options->kind) pace_say_kind_assumed(report, status, kind);
    return pace_report_settle(out, report, status, failures);
}
