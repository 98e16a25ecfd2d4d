/* pace_history(): the runs of a series, whether the last ones are worse than those before, and which values changed. */
#include "base/print.h"
#include "ask/history.h"
#include "report/check_table.h"
#include "report/engines.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct {
    const char *at, *label;
    int64_t run;
    double value, change;
} run_row;

static const pace_table runs = {"runs", "Runs, the last one first", PACE_FOR_ALL, 20,
                                PACE_CELLS({"run", "run", PACE_SHOW_INT, PACE_OF(run_row, run)},
                                           {"at", "stored (UTC)", PACE_SHOW_TEXT, PACE_OF(run_row, at)},
                                           {"label", "label", PACE_SHOW_TEXT, PACE_OF(run_row, label)},
                                           {"value", "value", PACE_SHOW_REAL, PACE_OF(run_row, value)},
                                           {"change", "against the median before", PACE_SHOW_SHARE,
                                            PACE_OF(run_row, change)})};

typedef struct {
    const char *path, *verdict;
    double before, last, change, p;
} value_row;

static const pace_table changes = {"changes", "Values that changed, the largest change first", PACE_FOR_ALL, 15,
                                   PACE_CELLS({"path", "value", PACE_SHOW_TEXT, PACE_OF(value_row, path)},
                                              {"before", "before", PACE_SHOW_REAL, PACE_OF(value_row, before)},
                                              {"last", "last", PACE_SHOW_REAL, PACE_OF(value_row, last)},
                                              {"change", "change", PACE_SHOW_SHARE, PACE_OF(value_row, change)},
                                              {"p_value", "p", PACE_SHOW_REAL, PACE_OF(value_row, p)},
                                              {"verdict", "verdict", PACE_SHOW_TEXT, PACE_OF(value_row, verdict)})};

typedef struct {
    const char *file;
    const pace_results *results;
    const char *series, *path;
    const pace_history_options *options;
    pace_value_history chosen;
    size_t missed;
} view;

static pace_shown show_value(const char *path, double value) {
    pace_shown shown;
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, "_ns") == 0) return pace_show_ns(llround(value));
    if (length > 2 && strcmp(path + length - 2, "_s") == 0 && !(length > 6 && strcmp(path + length - 6, "_per_s") == 0))
        return pace_show_ns(llround(value * 1e9));
    pace_snprintf(shown.text, sizeof shown.text, "%.4g", value);
    return shown;
}

static void put_figures(pace_node *root, const view *v) {
    const pace_value_history *h = &v->chosen;
    pace_node_text(root, "series", v->series);
    pace_node_text(root, "value", h->path);
    pace_node_int(root, "runs_before", (int64_t)h->before);
    pace_node_int(root, "runs_last", (int64_t)h->last);
    pace_node_real(root, "median_before", h->before_median);
    pace_node_real(root, "median_last", h->last_median);
    pace_node_real(root, "ratio", h->ratio);
    pace_node_real(root, "ratio_low", h->low);
    pace_node_real(root, "ratio_high", h->high);
    pace_node_real(root, "p_value", h->p);
    pace_node_text(root, "verdict", pace_change_verdict_names[h->verdict]);
}

static void put_answer(pace_node *root, const view *v) {
    const pace_value_history *h = &v->chosen;
    if (h->before == 0) {
        pace_node_sentence(root, true, "%s: one run of %s, nothing before to hold it against.", v->series, h->path);
        return;
    }
    pace_shown before = show_value(h->path, h->before_median), last = show_value(h->path, h->last_median);
    double worse = pace_history_worse_by(h);
    const char *word = h->verdict != PACE_CHANGE_REAL ? "no significant change"
                       : worse > 0                    ? "a regression"
                                                      : "an improvement";
    pace_node_sentence(root, true, "%s: %s. The median of the last %zu is %s, of the %zu before %s (%+.1f %%).",
                       v->series, word, h->last, last.text, h->before, before.text, 100 * (h->ratio - 1));
    if (h->verdict == PACE_CHANGE_TOO_FEW || h->verdict == PACE_CHANGE_UNKNOWN)
        pace_node_note(root, "%zu and %zu runs are too few to tell a change from chance.", h->before, h->last);
    else pace_node_note(root, "Rank-sum test (Mann-Whitney): p = %.2g; below 0.05 counts as a change.", h->p);
}

static void put_check(pace_node *root, view *v) {
    const pace_value_history *h = &v->chosen;
    char name[320], text[160];
    double worse = pace_history_worse_by(h);
    bool failed = worse > v->options->limit && h->verdict != PACE_CHANGE_CHANCE && h->before > 0;
    v->missed = failed;
    pace_snprintf(name, sizeof name, "%.200s at most %g %% worse", h->path, 100 * v->options->limit);
    if (h->before == 0) pace_snprintf(text, sizeof text, "nothing before to hold it against");
    else pace_snprintf(text, sizeof text, "%+.2f %%, %s", 100 * (h->ratio - 1), pace_change_verdict_names[h->verdict]);
    pace_put_check(root, name, !failed, text);
}

static void put_runs(pace_node *root, const view *v) {
    const pace_value_history *h = &v->chosen;
    pace_node *table = pace_open_table(root, &runs, 0);
    for (size_t i = h->values.count; i > 0; i--) {
        const pace_stored_run *run = &v->results->runs.items[h->runs.items[i - 1]];
        char at[32] = "";
        time_t seconds = (time_t)run->at_s;
        struct tm utc;
        if (gmtime_r(&seconds, &utc)) strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", &utc);
        double value = h->values.items[i - 1];
        pace_table_put(table, &(run_row){at, run->label, (int64_t)h->runs.items[i - 1] + 1, value,
                                         h->before_median > 0 ? value / h->before_median - 1 : NAN});
    }
    pace_node *chart = pace_node_chart(root, h->path, "run", false);
    pace_chart_curve(chart, h->path);
    for (size_t i = 0; i < h->values.count; i++)
        pace_chart_point(chart, (double)h->runs.items[i] + 1, h->values.items[i]);
}

/* --- every value -------------------------------------------------------------------------------------------------- */

typedef PACE_VEC(value_row) value_rows;

static int by_change(const void *left, const void *right) {
    const value_row *a = left, *b = right;
    double x = fabs(a->change), y = fabs(b->change);
    if (x < y || x > y) return x > y ? -1 : 1;
    return strcmp(a->path, b->path);
}

static int by_path(const void *left, const void *right) {
    const pace_stored_figure *a = *(const pace_stored_figure *const *)left;
    const pace_stored_figure *b = *(const pace_stored_figure *const *)right;
    int order = strcmp(a->path, b->path);
    return order ? order : (a->run > b->run) - (a->run < b->run);
}

static pace_status add_value(value_rows *out, const view *v, const pace_stored_figure *const *figures, size_t count) {
    pace_value_history h;
    PACE_TRY(pace_value_history_of(&h, figures, count, v->options->last));
    pace_status status = PACE_OK;
    if (h.before && !isnan(h.ratio))
        status = PACE_PUSH(out, ((value_row){h.path, NULL, h.before_median, h.last_median, h.ratio - 1, h.p}));
    pace_value_history_free(&h);
    return status;
}

/* Of many values some differ by chance: as many times less likely must each be (Bonferroni). */
static void put_changes(pace_node *root, value_rows *rows) {
    pace_node *table = pace_open_table(root, &changes, 0);
    if (rows->count) qsort(rows->items, rows->count, sizeof *rows->items, by_change);
    for (size_t i = 0; i < rows->count; i++) {
        value_row *row = &rows->items[i];
        row->verdict = row->p * (double)rows->count <= 0.05 ? "significant among all values" : "significant alone";
        if (row->p <= 0.05) pace_table_put(table, row);
    }
}

static pace_status find_changes(pace_node *root, const view *v) {
    size_t count = 0;
    const pace_stored_figure **figures = pace_alloc(v->results->figures.count, sizeof *figures);
    value_rows rows = {0};
    pace_status status = figures ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; figures && i < v->results->figures.count; i++) {
        const pace_stored_figure *figure = &v->results->figures.items[i];
        if (strcmp(v->results->runs.items[figure->run].series, v->series) == 0) figures[count++] = figure;
    }
    if (count) qsort(figures, count, sizeof *figures, by_path);
    for (size_t i = 0, next; status == PACE_OK && i < count; i = next) {
        for (next = i + 1; next < count && strcmp(figures[next]->path, figures[i]->path) == 0; next++) {}
        status = add_value(&rows, v, figures + i, next - i);
    }
    if (status == PACE_OK) put_changes(root, &rows);
    PACE_VEC_FREE(&rows);
    pace_free(figures);
    return status;
}

static pace_status build(pace_report *report, void *context) {
    view *v = context;
    pace_node *root = pace_report_root(report);
    struct stat about;
    pace_report_add_input(report, v->file, stat(v->file, &about) == 0 ? (uint64_t)about.st_size : 0);
    pace_report_show_rows(report, v->options->rows_shown);
    put_answer(root, v);
    put_figures(root, v);
    if (v->options->has_limit) put_check(root, v);
    put_runs(root, v);
    return find_changes(root, v);
}

static pace_status choose(view *v) {
    PACE_TRY(pace_history_series(&v->series, v->results, v->options->series));
    const char *verb = "";
    for (size_t i = 0; i < v->results->runs.count; i++)
        if (strcmp(v->results->runs.items[i].series, v->series) == 0) verb = v->results->runs.items[i].verb;
    v->path = v->options->value ? v->options->value : pace_history_value_of(verb);
    if (!v->path) return pace_fail(PACE_E_USAGE, "value: expected the path of a value of '%.80s'", v->series);
    return pace_value_history_find(&v->chosen, v->results, v->series, v->path, v->options->last);
}

pace_status pace_history(pace_report **out, size_t *missed, const char *path, const pace_history_options *options) {
    pace_results results;
    PACE_TRY(pace_results_read(&results, path));
    view v = {.file = path, .results = &results, .options = options};
    pace_status status = choose(&v);
    if (status == PACE_OK) {
        status = pace_report_build(out, "history", "Answers over time", build, &v);
        pace_value_history_free(&v.chosen);
    }
    pace_results_free(&results);
    *missed = v.missed;
    return status;
}
