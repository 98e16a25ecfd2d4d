#include "ask/validate/validation.h"
#include "ask/validate/case_answers.h"
#include "ask/rows/row_kinds.h"
#include "base/parallel.h"
#include "base/print.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    const char *alone = one->needs ? pace_yaml_text(one->needs) : NULL;
    size_t count = alone ? 1 : one->needs ? pace_yaml_count(one->needs) : 0;
    for (size_t i = 0; i < count; i++) {
        const char *file = alone ? alone : pace_yaml_text(pace_yaml_item(one->needs, i));
        int length = snprintf(path, sizeof path, "%s/%s", folder, file ? file : "");
        if (!file || length >= (int)sizeof path || access(path, R_OK) != 0) return file ? file : "a file";
    }
    return NULL;
}

static pace_status add_chosen(pace_validation *v, const pace_case *one, bool for_pool) {
    pace_validation_run run = {.one = one, .missing = missing_of(one, v->options->data_path), .for_pool = for_pool};
    return PACE_PUSH(&v->runs, run);
}

static bool is_chosen(const pace_validation *v, const pace_case *one) {
    for (size_t i = 0; i < v->runs.count; i++)
        if (v->runs.items[i].one == one) return true;
    return false;
}

static bool is_pooled(const pace_yaml_node *pattern, const pace_case *one) {
    const char *text = pace_yaml_text(pattern);
    return text && !one->pools && fnmatch(text, one->name, 0) == 0;
}

/* The cases that a pool is made of, where nobody asked for them. */
static pace_status choose_pooled(pace_validation *v, const pace_case *pool) {
    PACE_YAML_EACH (pattern, pool->pools) {
        bool found = false;
        PACE_ITEMS (const pace_case, one, &v->cases.items) {
            if (!is_pooled(pattern, one)) continue;
            found = true;
            if (!is_chosen(v, one)) PACE_TRY(add_chosen(v, one, true));
        }
        if (!found) return pace_yaml_fail(v->cases.yaml, pattern, "expected names of cases that pool none themselves");
    }
    return PACE_OK;
}

static bool pools(const pace_case *pool, const pace_case *one) {
    PACE_YAML_EACH (pattern, pool->pools)
        if (is_pooled(pattern, one)) return true;
    return false;
}

/* A pool without one of its cases would be another figure. */
static void mark_missing(const pace_validation *v, pace_validation_run *r) {
    for (size_t i = 0; i < v->runs.count; i++)
        if (v->runs.items[i].missing && pools(r->one, v->runs.items[i].one)) r->missing = v->runs.items[i].missing;
}

/* The cases that are asked for. */
static pace_status choose(pace_validation *v) {
    PACE_ITEMS (const pace_case, one, &v->cases.items)
        if (is_asked(v->options, one->name)) PACE_TRY(add_chosen(v, one, false));
    size_t asked = v->runs.count;
    for (size_t i = 0; i < asked; i++) {
        PACE_TRY(choose_pooled(v, v->runs.items[i].one));
        mark_missing(v, &v->runs.items[i]);
    }
    if (asked > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "no case is named like \"%.80s\"", v->options->glob ? v->options->glob : "*");
}

static void tell(pace_validation *v, const pace_case *one) {
    const pace_validate_options *options = v->options;
#pragma omp critical(pace_validate_progress)
    {
        pace_progress_tell(options->progress, one->name, v->done, v->runs.count);
        v->done++;
    }
}

/* A case that fails does not stop the others. */
static pace_status run_case(void *context, size_t worker, size_t i) {
    pace_validation *v = context;
    pace_validation_run *r = &v->runs.items[i];
    const pace_validate_options *options = v->options;
    (void)worker;
    tell(v, r->one);
    if (r->missing || r->one->pools) return PACE_OK;
    r->status = r->one->ask
                    ? pace_case_answers(&r->score, options->context, r->one, options->data_path, options->ask)
                    : pace_validate_case(&r->score, options->context, r->one, &pace_all_row_kinds, options->data_path);
    if (r->status == PACE_E_MEMORY) return r->status;
    if (r->status != PACE_OK) snprintf(r->message, sizeof r->message, "%s", pace_message());
    return PACE_OK;
}

static pace_status add_line(pace_validation *v, const pace_case *one, const pace_bar *bar, size_t rows, double value) {
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
    return pace_ledger_add(&v->fresh, cells);
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

static double kept_value(const pace_validation *v, const char *name, const char *metric) {
    size_t place = pace_ledger_find(&v->kept, name, metric);
    double value;
    if (place == v->kept.lines.count) return NAN;
    return pace_csv_number(&value, v->kept.lines.items[place].cell[PACE_LEDGER_VALUE]) ? value : (double)NAN;
}

static pace_status add_figure(pace_validation *v, const pace_case *one, const pace_case_score *score,
                              const pace_bar *bar) {
    double value;
    size_t rows;
    PACE_TRY(pace_case_metric(&value, &rows, score, one, bar->metric));
    PACE_TRY(add_line(v, one, bar, rows, value));
    bool holds = pace_bar_holds(bar, value);
    pace_figure_change change = pace_ledger_change(&v->kept, one->name, bar, value);
    if (change == PACE_FIGURE_WORSE) PACE_TRY(PACE_PUSH(&v->worse, one->name));
    v->missed += !holds;
    pace_validation_figure row = {.name = one->name,
                                  .metric = bar->metric,
                                  .bar = bar->text,
                                  .holds = holds ? "yes" : "no",
                                  .verdict = verdict_of(change, holds),
                                  .note = one->note ? one->note : "",
                                  .rows = (int64_t)rows,
                                  .value = value,
                                  .before = kept_value(v, one->name, bar->metric)};
    return PACE_PUSH(&v->figures, row);
}

static pace_status add_bars(pace_validation *v, const pace_validation_run *r) {
    for (unsigned i = 0; i < r->one->bar_count; i++) PACE_TRY(add_figure(v, r->one, &r->score, &r->one->bars[i]));
    return PACE_OK;
}

/* Gathers the rows of a case's pool, each of whose cases is a group. */
static pace_status gather(pace_validation *v, pace_validation_run *r) {
    for (size_t i = 0; i < v->runs.count; i++) {
        const pace_validation_run *member = &v->runs.items[i];
        if (!pools(r->one, member->one)) continue;
        if (member->status != PACE_OK)
            return pace_fail(member->status, "case %s: %s, which it pools, failed", r->one->name, member->one->name);
        PACE_ITEMS (const pace_case_row, row, &member->score.rows) {
            pace_case_row pooled = *row;
            pooled.group = i;
            PACE_TRY(pace_case_score_add(&r->score, pooled));
        }
    }
    return PACE_OK;
}

static pace_status add_run(pace_validation *v, pace_validation_run *r) {
    if (r->status == PACE_OK && !r->for_pool) {
        r->status = gather(v, r);
        if (r->status == PACE_OK) r->status = add_bars(v, r);
        if (r->status != PACE_OK) snprintf(r->message, sizeof r->message, "%s", pace_message());
    }
    v->failed += r->status != PACE_OK;
    return r->status == PACE_E_MEMORY ? PACE_E_MEMORY : PACE_OK;
}

static pace_status add_runs(pace_validation *v) {
    const pace_validation_run *failed = NULL;
    const char *missing = "";
    PACE_ITEMS (pace_validation_run, r, &v->runs) {
        if (r->missing) missing = r->missing;
        else PACE_TRY(add_run(v, r));
        if (!failed && r->status != PACE_OK) failed = r;
    }
    if (v->figures.count > 0) return PACE_OK;
    if (failed) return pace_fail(failed->status, "%s", failed->message);
    return pace_fail(PACE_E_INPUT, "nothing could be computed: %s is not in %s", missing, v->options->data_path);
}

/* The ledger beside the file of cases; without one every figure is new. */
static pace_status read_kept(pace_validation *v) {
    char path[4096];
    if (!v->cases.folder) return PACE_OK;
    int length = snprintf(path, sizeof path, "%s/ledger.csv", v->cases.folder);
    if (length >= (int)sizeof path || access(path, R_OK) != 0) return PACE_OK;
    return pace_ledger_read(&v->kept, path);
}

size_t pace_validation_kept(const pace_validation *v, const char *split) {
    size_t count = 0;
    for (size_t i = 0; i < v->kept.lines.count; i++) {
        char *const *cell = v->kept.lines.items[i].cell;
        const char *name = cell[PACE_LEDGER_CASE];
        bool anew = pace_ledger_find(&v->fresh, name, cell[PACE_LEDGER_METRIC]) < v->fresh.lines.count;
        count += !anew && is_asked(v->options, name) && strcmp(cell[PACE_LEDGER_SPLIT], split) == 0;
    }
    return count;
}

static pace_status run_all(pace_validation *v) {
    const char *folder = v->options->data_path;
    if (access(folder, R_OK | X_OK) != 0) return pace_fail(PACE_E_IO, "%s: %s", folder, strerror(errno));
    PACE_TRY(pace_ledger_check(v->options->ledger_path));
    PACE_TRY(pace_cases_load(&v->cases, v->options->cases_path));
    PACE_TRY(read_kept(v));
    PACE_TRY(choose(v));
    PACE_TRY(pace_for_each(v->runs.count, run_case, v));
    PACE_TRY(add_runs(v));
    return v->options->ledger_path ? pace_ledger_update(v->options->ledger_path, &v->fresh) : PACE_OK;
}

pace_status pace_validation_run_all(pace_validation *out, const pace_validate_options *options) {
    pace_validation v = {.options = options};
    pace_status status = run_all(&v);
    return PACE_GIVE(out, v, status, pace_validation_free(&v));
}

void pace_validation_free(pace_validation *v) {
    for (size_t i = 0; i < v->runs.count; i++) pace_case_score_free(&v->runs.items[i].score);
    PACE_VEC_FREE(&v->runs);
    pace_ledger_free(&v->fresh);
    pace_ledger_free(&v->kept);
    PACE_VEC_FREE(&v->figures, &v->worse);
    pace_cases_free(&v->cases);
}
