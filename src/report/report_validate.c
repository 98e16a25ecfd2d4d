/* The report of `paceline validate`: figures of merit against their bars, and against the ledger they are kept in. */
#include "ask/context.h"
#include "ask/ledger.h"
#include "ask/row_kinds.h"
#include "ask/validate.h"
#include "base/parallel.h"
#include "base/print.h"
#include "report/case_answers.h"
#include "report/engines.h"
#include "report/table.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- cases -------------------------------------------------------------------------------------------------------- */

/* A case that is asked for, and what became of it. */
typedef struct {
    const pace_case *one;
    pace_case_score score;
    pace_status status;
    char message[500];
} run;

typedef struct {
    const pace_validate_options *options;
    PACE_VEC(run) runs;
    const char *missing; /* a file that a case needs */
    size_t done;
} validation;

static bool is_asked(const pace_validate_options *options, const char *name) {
    return !options->glob || fnmatch(options->glob, name, 0) == 0;
}

/* What the case reads and is not there; NULL = nothing. */
static const char *missing_of(const pace_case *one, const char *folder) {
    char path[4096];
    for (unsigned i = 0; i < one->file_count; i++)
        if (pace_case_path(path, sizeof path, one, folder, i) != PACE_OK || access(path, R_OK) != 0)
            return one->files[i];
    if (one->names_beside && !one->beside) return "accuracy/";
    if (!one->needs) return NULL;
    int length = snprintf(path, sizeof path, "%s/%s", folder, one->needs);
    return length < (int)sizeof path && access(path, R_OK) == 0 ? NULL : one->needs;
}

/* The cases that are asked for and whose files are there. */
static pace_status choose(validation *v, pace_report *report, const pace_cases *cases) {
    size_t matched = 0;
    for (size_t i = 0; i < cases->items.count; i++) {
        const pace_case *one = &cases->items.items[i];
        if (!is_asked(v->options, one->name)) continue;
        matched++;
        const char *missing = missing_of(one, v->options->data_path);
        if (!missing) PACE_TRY(PACE_PUSH(&v->runs, (run){.one = one}));
        else
            pace_report_warn(report, PACE_WARN_CASE_SKIPPED, one->name, "case %s: %s is not in %s", one->name, missing,
                             v->options->data_path);
        if (missing) v->missing = missing;
    }
    if (matched > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "no case is named like \"%.80s\"", v->options->glob ? v->options->glob : "*");
}

static void tell(validation *v, const pace_case *one) {
    const pace_validate_options *options = v->options;
#pragma omp critical(pace_validate_progress)
    {
        if (options->progress) options->progress(options->progress_context, one->name, v->done, v->runs.count);
        v->done++;
    }
}

/* A case that fails does not stop the others. */
static pace_status run_case(void *context, size_t worker, size_t i) {
    validation *v = context;
    run *r = &v->runs.items[i];
    const pace_validate_options *options = v->options;
    (void)worker;
    tell(v, r->one);
    r->status = r->one->ask
                    ? pace_case_answers(&r->score, options->context, r->one, options->data_path, options->ask)
                    : pace_validate_case(&r->score, options->context, r->one, &pace_all_row_kinds, options->data_path);
    if (r->status == PACE_E_MEMORY) return r->status;
    if (r->status != PACE_OK) snprintf(r->message, sizeof r->message, "%s", pace_message());
    return PACE_OK;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

/* What a validation came to. */
typedef struct {
    const char *name, *metric, *bar, *holds, *verdict, *note;
    int64_t rows;
    double value, before; /* before: the ledger's, NAN = none */
} figure_row;

typedef struct {
    pace_ledger fresh, kept;
    PACE_VEC(figure_row) rows;
    size_t missed, failed;
    PACE_VEC(const char *) worse; /* names */
} figures;

static pace_status add_line(figures *f, const pace_case *one, const pace_bar *bar, size_t rows, double value) {
    char count[24], text[24];
    snprintf(count, sizeof count, "%zu", rows);
    pace_snprintf(text, sizeof text, "%.4f", value);
    const char *source = one->source ? one->source : one->file_count ? one->files[0] : "";
    const char *const cells[PACE_LEDGER_COLUMNS] = {one->name,
                                                    strncmp(source, "../", 3) == 0 ? source + 3 : source,
                                                    one->part ? one->part : "test",
                                                    bar->metric,
                                                    one->unit ? one->unit : "share",
                                                    count,
                                                    text,
                                                    bar->text,
                                                    pace_bar_holds(bar, value) ? "yes" : "no",
                                                    one->note};
    return pace_ledger_add(&f->fresh, cells);
}

static const char *verdict_of(pace_figure_change change, bool holds) {
    switch (change) {
    case PACE_FIGURE_WORSE: return "worse";
    case PACE_FIGURE_BETTER: return holds ? "holds, better" : "missed, better";
    case PACE_FIGURE_MOVED: return holds ? "holds, moved" : "missed, moved";
    case PACE_FIGURE_NEW: return holds ? "holds, new" : "missed, new";
    default: return holds ? "holds" : "missed";
    }
}

static double kept_value(const figures *f, const char *name, const char *metric) {
    size_t place = pace_ledger_find(&f->kept, name, metric);
    double value;
    if (place == f->kept.lines.count) return NAN;
    return pace_csv_number(&value, f->kept.lines.items[place].cell[PACE_LEDGER_VALUE]) ? value : (double)NAN;
}

static pace_status add_figure(figures *f, const pace_case *one, const pace_case_score *score, const pace_bar *bar) {
    double value;
    size_t rows;
    PACE_TRY(pace_case_metric(&value, &rows, score, one, bar->metric));
    PACE_TRY(add_line(f, one, bar, rows, value));
    bool holds = pace_bar_holds(bar, value);
    pace_figure_change change = pace_ledger_change(&f->kept, one->name, bar, value);
    if (change == PACE_FIGURE_WORSE) PACE_TRY(PACE_PUSH(&f->worse, one->name));
    f->missed += !holds;
    figure_row row = {.name = one->name,
                      .metric = bar->metric,
                      .bar = bar->text,
                      .holds = holds ? "yes" : "no",
                      .verdict = verdict_of(change, holds),
                      .note = one->note ? one->note : "",
                      .rows = (int64_t)rows,
                      .value = value,
                      .before = kept_value(f, one->name, bar->metric)};
    return PACE_PUSH(&f->rows, row);
}

static pace_status add_bars(figures *f, const run *r) {
    for (unsigned i = 0; i < r->one->bar_count; i++) PACE_TRY(add_figure(f, r->one, &r->score, &r->one->bars[i]));
    return PACE_OK;
}

static pace_status add_run(figures *f, pace_report *report, run *r) {
    if (r->status == PACE_OK) {
        r->status = add_bars(f, r);
        if (r->status != PACE_OK) snprintf(r->message, sizeof r->message, "%s", pace_message());
    }
    if (r->status == PACE_OK || r->status == PACE_E_MEMORY) return r->status;
    f->failed++;
    pace_report_warn(report, PACE_WARN_CASE_FAILED, r->one->name, "case %s failed: %s", r->one->name, r->message);
    return PACE_OK;
}

static pace_status add_runs(figures *f, pace_report *report, const validation *v) {
    const run *failed = NULL;
    for (size_t i = 0; i < v->runs.count; i++) {
        PACE_TRY(add_run(f, report, &v->runs.items[i]));
        if (!failed && v->runs.items[i].status != PACE_OK) failed = &v->runs.items[i];
    }
    if (f->rows.count > 0) return PACE_OK;
    if (failed) return pace_fail(failed->status, "%s", failed->message);
    return pace_fail(PACE_E_INPUT, "nothing could be computed: %s is not in %s", v->missing, v->options->data_path);
}

/* The ledger beside the file of cases; without one every figure is new. */
static pace_status read_kept(figures *f, const pace_cases *cases) {
    char path[4096];
    if (!cases->folder) return PACE_OK;
    int length = snprintf(path, sizeof path, "%s/ledger.csv", cases->folder);
    if (length >= (int)sizeof path || access(path, R_OK) != 0) return PACE_OK;
    return pace_ledger_read(&f->kept, path);
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static const pace_table figure_table = {"figures", "Figures", PACE_FOR_ALL, 0,
                                        PACE_CELLS({"case", "Case", PACE_SHOW_TEXT, PACE_OF(figure_row, name)},
                                                   {"metric", "Metric", PACE_SHOW_TEXT, PACE_OF(figure_row, metric)},
                                                   {"n", "Rows", PACE_SHOW_INT, PACE_OF(figure_row, rows)},
                                                   {"value", "Value", PACE_SHOW_REAL, PACE_OF(figure_row, value)},
                                                   {"ledger_value", "Ledger", PACE_SHOW_REAL,
                                                    PACE_OF(figure_row, before)},
                                                   {"bar", "Bar", PACE_SHOW_TEXT, PACE_OF(figure_row, bar)},
                                                   {"holds", NULL, PACE_SHOW_TEXT, PACE_OF(figure_row, holds)},
                                                   {"verdict", "Verdict", PACE_SHOW_TEXT, PACE_OF(figure_row, verdict)},
                                                   {"note", NULL, PACE_SHOW_TEXT, PACE_OF(figure_row, note)})};

/* Lines of the ledger that nothing here recomputes, of this split. */
static size_t kept_lines(const figures *f, const validation *v, const char *split) {
    size_t count = 0;
    for (size_t i = 0; i < f->kept.lines.count; i++) {
        char *const *cell = f->kept.lines.items[i].cell;
        const char *name = cell[PACE_LEDGER_CASE];
        bool anew = pace_ledger_find(&f->fresh, name, cell[PACE_LEDGER_METRIC]) < f->fresh.lines.count;
        count += !anew && is_asked(v->options, name) && strcmp(cell[PACE_LEDGER_SPLIT], split) == 0;
    }
    return count;
}

static void say_kept(pace_node *root, const figures *f, const validation *v) {
    size_t live = kept_lines(f, v, "live"), held = kept_lines(f, v, "held");
    pace_node_int(root, "not_recomputed", (int64_t)(live + held));
    if (live + held == 0) return;
    pace_node_sentence(
        root, false,
        "Not recomputed: %zu of the ledger's lines. Speeds and sizes of this program, measured on the machine "
        "and day that their notes name: %zu; bounds that the tests named as their source hold: %zu.",
        live + held, live, held);
}

/* Once for each case. */
static void say_worse(pace_node *root, const figures *f) {
    char names[1000] = "";
    size_t used = 0;
    for (size_t i = 0; i < f->worse.count && used < sizeof names; i++) {
        if (i > 0 && f->worse.items[i] == f->worse.items[i - 1]) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", f->worse.items[i]);
    }
    pace_node_int(root, "worse", (int64_t)f->worse.count);
    if (used) pace_node_sentence(root, true, "Worse than in the ledger: %s.", names);
}

static void describe(pace_report *report, const figures *f, const validation *v) {
    pace_node *root = pace_report_root(report);
    pace_node_sentence(root, true, "%zu of %zu bars hold.", f->rows.count - f->missed, f->rows.count);
    pace_node_int(root, "missed", (int64_t)f->missed);
    say_worse(root, f);
    if (f->failed) pace_node_sentence(root, true, "%zu cases failed.", f->failed);
    pace_node_int(root, "failed", (int64_t)f->failed);
    say_kept(root, f, v);
    pace_put_table(root, &figure_table, f->rows.items, f->rows.count, sizeof *f->rows.items);
}

typedef struct {
    pace_cases cases;
    validation v;
    figures f;
} asked;

static pace_status build(pace_report *report, void *context) {
    asked *a = context;
    PACE_TRY(read_kept(&a->f, &a->cases));
    PACE_TRY(choose(&a->v, report, &a->cases));
    PACE_TRY(pace_for_each(a->v.runs.count, run_case, &a->v));
    PACE_TRY(add_runs(&a->f, report, &a->v));
    if (a->v.options->ledger_path) PACE_TRY(pace_ledger_update(a->v.options->ledger_path, &a->f.fresh));
    describe(report, &a->f, &a->v);
    return PACE_OK;
}

static void free_all(asked *a) {
    for (size_t i = 0; i < a->v.runs.count; i++) pace_case_score_free(&a->v.runs.items[i].score);
    PACE_VEC_FREE(&a->v.runs);
    pace_ledger_free(&a->f.fresh);
    pace_ledger_free(&a->f.kept);
    PACE_VEC_FREE(&a->f.rows);
    PACE_VEC_FREE(&a->f.worse);
    pace_cases_free(&a->cases);
}

pace_status pace_validate(pace_report **out, size_t *missed, const pace_validate_options *options) {
    asked a = {.v = {.options = options}};
    PACE_TRY(pace_cases_load(&a.cases, options->cases_path));
    pace_status status = pace_report_build(out, "validate", "Validation", build, &a);
    if (status == PACE_OK) *missed = a.f.missed + a.f.worse.count + a.f.failed;
    free_all(&a);
    return status;
}
