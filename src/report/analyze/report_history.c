/* pace_history(): the runs of a series, whether the last ones are worse than those before, and which values changed. */
#include "base/print.h"
#include "report/analyze/analyze_parts.h"
#include "report/engines.h"
#include "report/show.h"

#include <math.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *at, *label;
    int64_t run;
    double value, change;
} run_row;

PACE_TABLE(runs, "runs", "Runs, the last one first", PACE_FOR_ALL, 20,
           {"run", "run", PACE_SHOW_INT, PACE_OF(run_row, run)},
           {"at", "stored (UTC)", PACE_SHOW_TEXT, PACE_OF(run_row, at)},
           {"label", "label", PACE_SHOW_TEXT, PACE_OF(run_row, label)},
           {"value", "value", PACE_SHOW_REAL, PACE_OF(run_row, value)},
           {"change", "against the median before", PACE_SHOW_SHARE, PACE_OF(run_row, change)});

typedef struct {
    pace_value_change of;
    const char *verdict;
} value_row;

PACE_TABLE(changes, "changes", "Values that changed, the largest change first", PACE_FOR_ALL, 15,
           {"path", "value", PACE_SHOW_TEXT, PACE_OF(value_row, of.path)},
           {"before", "before", PACE_SHOW_REAL, PACE_OF(value_row, of.before)},
           {"last", "last", PACE_SHOW_REAL, PACE_OF(value_row, of.last)},
           {"change", "change", PACE_SHOW_SHARE, PACE_OF(value_row, of.change)},
           {"p_value", "p", PACE_SHOW_REAL, PACE_OF(value_row, of.p)},
           {"verdict", "verdict", PACE_SHOW_TEXT, PACE_OF(value_row, verdict)});

typedef struct {
    const pace_history_asked *asked;
    const pace_history_options *options;
    const char *series;
    const pace_value_history *chosen;
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

static pace_shown show_more(double more, int decimals) {
    pace_shown shown;
    if (isinf(more)) pace_snprintf(shown.text, sizeof shown.text, "from zero");
    else pace_snprintf(shown.text, sizeof shown.text, "%+.*f %%", decimals, 100 * more);
    return shown;
}

/* Of zero no share can be told. */
static double share_cell(double more) { return isinf(more) ? NAN : more; }

static void put_figures(pace_node *root, const view *v) {
    const pace_value_history *h = v->chosen;
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

/* Runs of a new level are also among those before: then the level tells, and not the last runs alone. */
static const char *word_of(char since[32], const pace_value_history *h) {
    bool level = h->verdict != PACE_CHANGE_REAL && h->level.found;
    since[0] = '\0';
    if (h->verdict == PACE_CHANGE_CHANCE && !level) return "no significant change";
    if (h->verdict != PACE_CHANGE_REAL && !level) return "too few runs to tell a change";
    if (level) pace_snprintf(since, 32, " since run %zu", h->runs.items[h->level.at] + 1);
    return pace_history_worse_by(h, level ? h->level.more : h->more) > 0 ? "a regression" : "an improvement";
}

static void put_medians(pace_node *root, const view *v, const char *word, const char *since) {
    const pace_value_history *h = v->chosen;
    char before[48] = "the one before", last[48] = "The last run has";
    if (h->before > 1) pace_snprintf(before, sizeof before, "of the %zu before", h->before);
    if (h->last > 1) pace_snprintf(last, sizeof last, "The median of the last %zu is", h->last);
    pace_node_sentence(root, true, "%s: %s%s. %s %s, %s %s (%s).", v->series, word, since, last,
                       show_value(h->path, h->last_median).text, before, show_value(h->path, h->before_median).text,
                       show_more(h->more, 1).text);
}

static void note_too_few(pace_node *root, const pace_value_history *h) {
    char need[48] = "the last one needs";
    if (h->asked > 1) pace_snprintf(need, sizeof need, "the last %zu need", h->asked);
    pace_node_note(root, "%zu runs are too few to tell a change from chance: %s at least %zu before %s.",
                   h->before + h->last, need, h->enough, h->asked > 1 ? "them" : "it");
}

static void put_answer(pace_node *root, const view *v) {
    const pace_value_history *h = v->chosen;
    char since[32];
    if (h->before == 0) {
        pace_node_sentence(root, true, "%s: one run of %s, no earlier run to compare with.", v->series, h->path);
        return;
    }
    const char *word = word_of(since, h);
    put_medians(root, v, word, since);
    if (h->verdict == PACE_CHANGE_TOO_FEW || h->verdict == PACE_CHANGE_UNKNOWN) note_too_few(root, h);
    else pace_node_note(root, "Rank-sum test (Mann-Whitney): p = %.2g; below 0.05 counts as a change.", h->p);
}

static int64_t since_run(const pace_value_history *h) {
    return h->level.found ? (int64_t)h->runs.items[h->level.at] + 1 : PACE_NO_INT;
}

/* From which run on the values stay at another level. */
static void put_level(pace_node *root, const view *v) {
    const pace_value_history *h = v->chosen;
    const pace_level_change *level = &h->level;
    pace_node *node = pace_node_object(root, "level", NULL, PACE_FOR_JSON);
    const char *label = level->found ? v->asked->results.runs.items[h->runs.items[level->at]].label : NULL;
    pace_node_int(node, "since_run", since_run(h));
    pace_node_text(node, "since_label", label);
    if (label)
        pace_node_sentence(root, true, "Since run %zu%s%.60s%s it stays at %s, before at %s (%s).",
                           h->runs.items[level->at] + 1, *label ? " (" : "", label, *label ? ")" : "",
                           show_value(h->path, level->after).text, show_value(h->path, level->before).text,
                           show_more(level->more, 1).text);
    bool has_ratio = level->found && level->before > 0;
    pace_node_real(node, "ratio", has_ratio ? level->after / level->before : NAN);
    pace_node_real(node, "p_value", level->found ? level->p : 1);
}

static void put_check(pace_node *checks, view *v) {
    const pace_value_history *h = v->chosen;
    char name[400], text[200], since[64] = "";
    bool failed = pace_history_is_worse(h, v->options->limit);
    v->missed += failed;
    pace_snprintf(name, sizeof name, "%.120s: %.200s at most %g %% worse", v->series, h->path, 100 * v->options->limit);
    if (h->level.found)
        pace_snprintf(since, sizeof since, "; %s since run %zu", show_more(h->level.more, 2).text,
                      h->runs.items[h->level.at] + 1);
    if (h->before == 0) pace_snprintf(text, sizeof text, "no earlier run to compare with");
    else
        pace_snprintf(text, sizeof text, "%s, %s%s", show_more(h->more, 2).text, pace_change_verdict_names[h->verdict],
                      since);
    pace_put_check(checks, name, !failed, text);
}

/* Runs of the series without the value; those at the end are why the last runs are not what they seem. */
static void tell_lacking(pace_node *root, const view *v) {
    size_t all = 0, behind = 0, newest = v->chosen->runs.items[v->chosen->runs.count - 1];
    for (size_t i = 0; i < v->asked->results.runs.count; i++) {
        bool ours = strcmp(v->asked->results.runs.items[i].series, v->series) == 0;
        all += ours;
        behind += ours && i > newest;
    }
    size_t lacking = all - v->chosen->runs.count;
    if (lacking == 0) return;
    pace_node_sentence(root, behind > 0, "%zu of %zu runs have no %s%s and are left out.", lacking, all,
                       v->chosen->path,
                       behind == lacking ? ", the last ones,"
                       : behind          ? ", the last one among them,"
                                         : "");
}

static void put_runs(pace_node *root, const view *v) {
    const pace_value_history *h = v->chosen;
    char title[160];
    pace_snprintf(title, sizeof title, "%.100s of each run, the last one first", h->path); /* its name says the unit */
    pace_node *table = pace_open_table_as(root, &runs, 0, title);
    for (size_t i = h->values.count; i > 0; i--) {
        const pace_stored_run *run = &v->asked->results.runs.items[h->runs.items[i - 1]];
        char at[32] = "";
        time_t seconds = (time_t)run->at_s;
        struct tm utc;
        if (gmtime_r(&seconds, &utc)) strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", &utc);
        double value = h->values.items[i - 1];
        pace_table_put(table, &(run_row){at, run->label, (int64_t)h->runs.items[i - 1] + 1, value,
                                         share_cell(pace_share_more(h->before_median, value))});
    }
    pace_node *chart = pace_node_chart(root, h->path, "run", 0);
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", h->path);
    for (size_t i = 0; i < h->values.count; i++)
        pace_chart_point(chart, (double)h->runs.items[i] + 1, h->values.items[i]);
}

/* --- every value -------------------------------------------------------------------------------------------------- */

static void put_changes(pace_node *root, const view *v) {
    pace_node *table = pace_open_table(root, &changes, 0);
    PACE_ITEMS (const pace_value_change, change, &v->asked->changes)
        pace_table_put(table,
                       &(value_row){*change, change->among_all ? "significant among all values" : "significant alone"});
}

/* --- several series ----------------------------------------------------------------------------------------------- */

typedef struct {
    const char *series, *value, *verdict;
    int64_t runs, since_run;
    double last, change, level_change;
} series_row;

PACE_TABLE_IF_ROWS(all_series, "all_series", "Series", PACE_FOR_ALL, 30,
                   {"series", "series", PACE_SHOW_TEXT, PACE_OF(series_row, series)},
                   {"value", "value", PACE_SHOW_TEXT, PACE_OF(series_row, value)},
                   {"runs", "runs", PACE_SHOW_INT, PACE_OF(series_row, runs)},
                   {"last", "last", PACE_SHOW_REAL, PACE_OF(series_row, last)},
                   {"change", "against before", PACE_SHOW_SHARE, PACE_OF(series_row, change)},
                   {"verdict", "verdict", PACE_SHOW_TEXT, PACE_OF(series_row, verdict)},
                   {"since_run", "level since run", PACE_SHOW_INT, PACE_OF(series_row, since_run)},
                   {"level_change", "level", PACE_SHOW_SHARE, PACE_OF(series_row, level_change)});

static void put_series_row(pace_node *table, const view *v) {
    const pace_value_history *h = v->chosen;
    pace_table_put(table, &(series_row){.series = v->series,
                                        .value = h->path,
                                        .verdict = pace_change_verdict_names[h->verdict],
                                        .runs = (int64_t)h->values.count,
                                        .since_run = since_run(h),
                                        .last = h->last_median,
                                        .change = share_cell(h->more),
                                        .level_change = h->level.found ? share_cell(h->level.more) : NAN});
}

static view view_of(const pace_history_asked *asked, const pace_history_options *options, size_t number) {
    const pace_series_history *one = &asked->series.items[number];
    return (view){asked, options, one->series, &one->value, 0};
}

/* A row and a check for each series. */
static size_t put_all(pace_node *root, const pace_history_asked *asked, const pace_history_options *options) {
    pace_node *table = pace_open_table(root, &all_series, 0);
    pace_node *checks = options->has_limit ? pace_open_checks(root) : NULL;
    size_t missed = 0;
    for (size_t i = 0; i < asked->series.count; i++) {
        view v = view_of(asked, options, i);
        if (asked->series.count + asked->left_out > 1) put_series_row(table, &v);
        if (checks) put_check(checks, &v);
        missed += v.missed;
    }
    return missed;
}

static void describe(pace_node *root, view *v) {
    size_t all = v->asked->series.count + v->asked->left_out;
    put_answer(root, v);
    tell_lacking(root, v);
    put_figures(root, v);
    if (all > 1)
        pace_node_note(root, "Of %zu series this is the one that became worst; --series NAME shows another.", all);
    if (v->asked->left_out) pace_node_note(root, "%zu series without the value are left out.", v->asked->left_out);
    v->missed = put_all(root, v->asked, v->options);
    put_level(root, v);
    put_runs(root, v);
    put_changes(root, v);
}

static pace_status build(pace_report *report, void *context) {
    view *v = context;
    for (size_t i = 0; i < v->asked->files.count; i++) pace_report_add_input(report, v->asked->files.items[i], 0);
    pace_report_warn_all(report, &v->asked->warnings);
    pace_report_show_rows(report, v->options->rows_shown);
    describe(pace_report_root(report), v);
    return PACE_OK;
}

pace_status pace_history(pace_report **out, size_t *missed, const char *const *paths, size_t count,
                         const pace_history_options *options) {
    pace_history_asked asked = {.left_out = 0};
    pace_status status = pace_history_ask(&asked, paths, count, options);
    *missed = 0;
    if (status == PACE_OK) {
        view v = view_of(&asked, options, asked.shown);
        status = pace_report_build(out, "history", "Answers over time", build, &v);
        *missed = v.missed;
    }
    pace_history_asked_free(&asked);
    return status;
}
