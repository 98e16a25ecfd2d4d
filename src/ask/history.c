#include "ask/history.h"
#include "base/autocorrelation.h"
#include "base/change_point.h"
#include "base/order.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/print.h"
#include "source/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_LAST = 3, USUAL_WINDOW = 50 };

/* How likely a series without a change of level has one by chance: as a whole, and behind each of its runs. */
#define LEVEL_CHANCE 0.01
#define LEVEL_CHANCE_LATER 0.001

/* The path of the value that answers of a verb are about, in the order of preference; NULL = there are no more. */
static const char *usual_value(const char *verb, size_t number) {
    static const char *const values[][2] = {{"analyze", "step_spread.median_ns"},
                                            {"compare", "b_step_ns"},
                                            {"predict", "step.median_s"},
                                            {"predict", "step_s"}}; /* of a job */
    for (size_t i = 0; i < PACE_COUNT(values); i++)
        if (strcmp(values[i][0], verb) == 0 && number-- == 0) return values[i][1];
    return NULL;
}

/* --- series ------------------------------------------------------------------------------------------------------- */

typedef PACE_VEC(const char *) series_list; /* borrowed from the results */

static bool is_listed(const series_list *list, const char *series) {
    return pace_word_number((const char *const *)list->items, list->count, series) >= 0;
}

static pace_status unknown_series(const series_list *all, const char *asked) {
    char known[256] = "";
    for (size_t i = 0; i < all->count; i++) pace_list(known, sizeof known, ", ", "%s", all->items[i]);
    return pace_fail(PACE_E_USAGE, "series: expected one of %s, found '%.80s'", known, asked);
}

static pace_status list_series(series_list *out, const pace_results *results, const char *asked) {
    series_list all = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < results->runs.count; i++)
        if (!is_listed(&all, results->runs.items[i].series))
            status = PACE_PUSH(&all, (const char *)results->runs.items[i].series);
    if (status == PACE_OK && all.count == 0)
        status = pace_fail(PACE_E_INPUT, "expected results that " PACE_FIELD "store wrote, found none");
    if (status == PACE_OK && asked && !is_listed(&all, asked)) status = unknown_series(&all, asked);
    if (status == PACE_OK && asked) {
        all.items[0] = asked;
        all.count = 1;
    }
    return PACE_GIVE(out, all, status, PACE_VEC_FREE(&all));
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

static void free_history(pace_value_history *history) { PACE_VEC_FREE(&history->runs, &history->values); }

static pace_status collect(pace_value_history *history, const pace_results *results, const char *series,
                           const char *path) {
    PACE_ITEMS (const pace_stored_figure, figure, &results->figures) {
        if (strcmp(figure->path, path) != 0 || strcmp(results->runs.items[figure->run].series, series) != 0) continue;
        history->path = figure->path;
        PACE_TRY(PACE_PUSH(&history->runs, figure->run));
        PACE_TRY(PACE_PUSH(&history->values, figure->value));
    }
    return PACE_OK;
}

static double median(const double *values, size_t count) {
    double *sorted = pace_alloc(count, sizeof *sorted);
    if (!sorted) return NAN;
    memcpy(sorted, values, count * sizeof *sorted);
    double middle = pace_median(sorted, count);
    pace_free(sorted);
    return middle;
}

double pace_share_more(double before, double now) {
    if (before == now) return 0;
    return before == 0 ? copysign(INFINITY, now) : (now - before) / fabs(before);
}

/* The test compares whole numbers: values as parts of the largest. */
static pace_status test_values(pace_rank_test *out, const pace_value_history *h) {
    size_t count = h->before + h->last;
    const double *values = h->values.items + h->values.count - count;
    int64_t *scaled = pace_alloc(count, sizeof *scaled);
    if (!scaled) return PACE_E_MEMORY;
    double largest = 0;
    bool positive = true;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(values[i])), positive = positive && values[i] > 0;
    for (size_t i = 0; i < count; i++) scaled[i] = largest > 0 ? llround(values[i] / largest * 1e15) : 0;
    double correlation;
    pace_status status = pace_autocorrelation_of(&correlation, values, h->before, values + h->before, h->last);
    if (status == PACE_OK) status = pace_rank_test_of(out, scaled, h->before, scaled + h->before, h->last, correlation);
    if (status == PACE_OK && !positive) out->low = out->high = NAN;
    pace_free(scaled);
    return status;
}

static size_t first_of_window(const pace_value_history *h, const pace_history_options *options) {
    size_t window = options->window ? options->window : USUAL_WINDOW;
    return h->values.count > window ? h->values.count - window : 0;
}

static pace_status compare(pace_value_history *h, const pace_history_options *options) {
    size_t begin = first_of_window(h, options), count = h->values.count - begin;
    pace_rank_test test;
    h->asked = options->last ? options->last : USUAL_LAST;
    h->enough = pace_rank_test_enough(h->asked);
    h->last = h->asked < count ? h->asked : count ? 1 : 0;
    h->before = count - h->last;
    h->more = h->ratio = h->low = h->high = h->before_median = NAN;
    h->last_median = h->last ? median(h->values.items + begin + h->before, h->last) : NAN;
    h->verdict = PACE_CHANGE_NONE;
    h->p = 1;
    if (h->before == 0) return PACE_OK;
    h->before_median = median(h->values.items + begin, h->before);
    PACE_TRY(test_values(&test, h));
    h->more = pace_share_more(h->before_median, h->last_median);
    if (h->before_median > 0) h->ratio = h->last_median / h->before_median;
    h->low = test.low;
    h->high = test.high;
    h->p = test.p;
    h->verdict = pace_change_judge(h->before, h->last, &test);
    return PACE_OK;
}

/* A split of all values that is no chance, else of those without the first, without the first two, and so on: a level
 * that came and went parts the whole badly. These are many tests, so each must be less likely. `*at` 0 = none. */
static pace_status any_change(size_t *at, double *p, const double *values, size_t count) {
    *at = 0;
    for (size_t from = 0; count - from >= PACE_CHANGE_POINT_LEAST; from += 1 + count / 64) {
        pace_change_point found;
        PACE_TRY(pace_change_point_find(&found, values + from, count - from));
        if (found.at == 0 || found.p > (from ? LEVEL_CHANCE_LATER : LEVEL_CHANCE)) continue;
        *at = from + found.at;
        *p = found.p;
        return PACE_OK;
    }
    return PACE_OK;
}

/* The last change of level in values; `*at` 0 = none. */
static pace_status last_change(size_t *at, double *p, const double *values, size_t count) {
    size_t later;
    *at = 0;
    do {
        PACE_TRY(any_change(&later, p, values + *at, count - *at));
        *at += later;
    } while (later);
    return PACE_OK;
}

/* The level that `values` keep behind `at`, up to `count`, against the one before, which began at `since`. */
static pace_level_change level_of(const double *values, size_t since, size_t at, size_t count, double p) {
    double before = median(values + since, at - since), after = median(values + at, count - at);
    return (pace_level_change){true, at, before, after, pace_share_more(before, after), p};
}

static pace_status find_level(pace_value_history *h, const pace_history_options *options) {
    size_t begin = first_of_window(h, options), count = h->values.count - begin, at, since;
    const double *values = h->values.items + begin;
    pace_level_change *level = &h->level;
    double p, p_before, largest = 0, now = NAN;
    PACE_TRY(last_change(&at, &p, values, count));
    for (size_t end = count; at > 0; end = at, at = since, p = p_before) {
        PACE_TRY(last_change(&since, &p_before, values, at));
        pace_level_change step = level_of(values, since, at, end, p);
        double change = step.after - step.before;
        if (level->found && change * largest <= 0) break; /* the other way */
        if (end == count) now = step.after;
        if (fabs(change) > fabs(largest)) *level = step, largest = change;
    }
    if (!level->found) return PACE_OK;
    level->after = now;
    level->more = pace_share_more(level->before, level->after);
    level->at += begin;
    return PACE_OK;
}

static pace_status no_value(const pace_results *results, const char *series, const char *path, bool usual) {
    const char *closest = "";
    PACE_ITEMS (const pace_stored_figure, figure, &results->figures) {
        bool ours = strcmp(results->runs.items[figure->run].series, series) == 0;
        if (ours) closest = pace_word_nearer(path, closest, figure->path);
    }
    if (usual)
        return pace_fail(PACE_E_USAGE,
                         "value: runs of %s hold no step time (%.200s): name what to follow, such as %.200s", series,
                         path, closest);
    return pace_fail(PACE_E_USAGE, "value: no run of %s has \"%.200s\"; the closest is \"%.200s\"", series, path,
                     closest);
}

static bool more_is_better(const char *path) {
    static const char *const ends[] = {"_per_s", "mfu", "hfu", "mfu_share"};
    bool better = false;
    for (size_t i = 0; i < PACE_COUNT(ends); i++) better |= pace_ends(path, ends[i]);
    return better;
}

static pace_status find_value(pace_value_history *out, const pace_results *results, const char *series,
                              const char *path, const pace_history_options *options) {
    pace_value_history history = {.more_is_better = more_is_better(path)};
    pace_status status = collect(&history, results, series, path);
    if (status == PACE_OK && history.values.count == 0) status = no_value(results, series, path, !options->value);
    if (status == PACE_OK) status = compare(&history, options);
    if (status == PACE_OK) status = find_level(&history, options);
    return PACE_GIVE(out, history, status, free_history(&history));
}

static pace_status value_history_of(pace_value_history *out, const pace_stored_figure *const *figures, size_t count,
                                    const pace_history_options *options) {
    pace_value_history history = {.path = figures[0]->path, .more_is_better = more_is_better(figures[0]->path)};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        status = PACE_PUSH(&history.runs, figures[i]->run);
        if (status == PACE_OK) status = PACE_PUSH(&history.values, figures[i]->value);
    }
    if (status == PACE_OK) status = compare(&history, options);
    return PACE_GIVE(out, history, status, free_history(&history));
}

double pace_history_worse_by(const pace_value_history *history, double more) {
    return history->more_is_better ? -more : more;
}

bool pace_history_is_worse(const pace_value_history *history, double limit) {
    bool last = history->before > 0 && history->verdict != PACE_CHANGE_CHANCE;
    if (last && pace_history_worse_by(history, history->more) > limit) return true;
    return history->level.found && pace_history_worse_by(history, history->level.more) > limit;
}

static const char *series_of(const pace_results *results, const pace_stored_figure *figure) {
    return results->runs.items[figure->run].series;
}

/* --- every series ------------------------------------------------------------------------------------------------- */

static bool has_value(const pace_results *results, const char *series, const char *path) {
    PACE_ITEMS (const pace_stored_figure, figure, &results->figures)
        if (strcmp(figure->path, path) == 0 && strcmp(series_of(results, figure), series) == 0) return true;
    return false;
}

static const char *value_of(const pace_results *results, const char *series, const pace_history_options *options) {
    const char *verb = "";
    if (options->value) return options->value;
    PACE_ITEMS (const pace_stored_run, run, &results->runs)
        if (strcmp(run->series, series) == 0) verb = run->verb;
    const char *usual = usual_value(verb, 0), *path = usual;
    for (size_t i = 1; path && !has_value(results, series, path); i++) path = usual_value(verb, i);
    return path ? path : usual;
}

static pace_status open_series(pace_value_history *out, const pace_results *results, const char *series,
                               const pace_history_options *options) {
    const char *path = value_of(results, series, options);
    if (!path) return pace_fail(PACE_E_USAGE, "value: expected the path of a value of '%.80s'", series);
    return find_value(out, results, series, path, options);
}

/* How bad a series is, to tell which is shown whole. */
static double worst_of(const pace_value_history *h) {
    double last = h->verdict == PACE_CHANGE_REAL ? pace_history_worse_by(h, h->more) : 0;
    double level = h->level.found ? pace_history_worse_by(h, h->level.more) : 0;
    return fmax(isnan(last) ? 0 : last, isnan(level) ? 0 : level);
}

static pace_status add_series(pace_history_asked *a, const char *series, const pace_history_options *options) {
    pace_series_history one = {.series = series};
    pace_status status = open_series(&one.value, &a->results, series, options);
    a->left_out += status == PACE_E_USAGE;
    if (status == PACE_E_USAGE) return PACE_OK;
    PACE_TRY(status);
    status = PACE_PUSH(&a->series, one);
    if (status != PACE_OK) free_history(&one.value);
    return status;
}

/* Those without the value are left out; where none has it, the first says so. */
static pace_status find_series(pace_history_asked *a, const pace_history_options *options) {
    series_list list;
    pace_value_history none;
    PACE_TRY(list_series(&list, &a->results, options->series));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < list.count; i++) status = add_series(a, list.items[i], options);
    if (status == PACE_OK && a->series.count == 0) status = open_series(&none, &a->results, list.items[0], options);
    PACE_VEC_FREE(&list);
    for (size_t i = 1; i < a->series.count; i++)
        if (worst_of(&a->series.items[i].value) > worst_of(&a->series.items[a->shown].value)) a->shown = i;
    return status;
}

/* --- every value -------------------------------------------------------------------------------------------------- */

#define SIZE(row) fabs((row)->change)
PACE_ORDER(by_size, pace_value_change, PACE_DOWN_OF(SIZE) PACE_TEXT(path))

PACE_ORDER_AT(by_path, pace_stored_figure, PACE_TEXT(path) PACE_UP(run))

typedef struct {
    pace_history_asked *asked;
    const pace_history_options *options;
    size_t newest; /* run of the value that is shown */
    size_t values; /* that could have changed */
} changes;

static pace_status add_value(changes *c, const pace_stored_figure *const *figures, size_t count) {
    pace_value_history h;
    if (figures[count - 1]->run < c->newest) return PACE_OK; /* the last lacks it */
    PACE_TRY(value_history_of(&h, figures, count, c->options));
    pace_status status = PACE_OK;
    c->values += h.before > 0;
    if (h.before && h.p <= PACE_CHANGE_LEVEL)
        status = PACE_PUSH(&c->asked->changes,
                           ((pace_value_change){h.path, h.before_median, h.last_median, h.more, h.p, false}));
    free_history(&h);
    return status;
}

/* Of many values some differ by chance: as many times less likely must each be (Bonferroni). */
static void judge_all(changes *c) {
    PACE_SORT(&c->asked->changes, by_size);
    PACE_ITEMS (pace_value_change, change, &c->asked->changes) {
        change->among_all = change->p * (double)c->values <= PACE_CHANGE_LEVEL;
        if (isinf(change->change)) change->change = NAN;
    }
}

static pace_status find_changes(pace_history_asked *a, const pace_history_options *options) {
    const pace_series_history *shown = &a->series.items[a->shown];
    size_t count = 0;
    const pace_stored_figure **figures = pace_alloc(a->results.figures.count, sizeof *figures);
    changes c = {a, options, shown->value.runs.items[shown->value.runs.count - 1], 0};
    pace_status status = figures ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; figures && i < a->results.figures.count; i++) {
        const pace_stored_figure *figure = &a->results.figures.items[i];
        if (strcmp(series_of(&a->results, figure), shown->series) == 0) figures[count++] = figure;
    }
    if (count) qsort(figures, count, sizeof *figures, by_path);
    for (size_t i = 0, next; status == PACE_OK && i < count; i = next) {
        for (next = i + 1; next < count && strcmp(figures[next]->path, figures[i]->path) == 0; next++) {}
        status = add_value(&c, figures + i, next - i);
    }
    if (status == PACE_OK) judge_all(&c);
    pace_free(figures);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static pace_status check(const char *const *paths, size_t count, const pace_history_options *options) {
    if (options->window == 1)
        return pace_fail(PACE_E_USAGE, "window: expected at least 2 runs, to compare the last with, found 1");
    for (size_t i = 0; i < count; i++)
        if (strcmp(paths[i], "-") == 0)
            return pace_fail(PACE_E_USAGE, "expected files of stored results, found standard input");
    return PACE_OK;
}

pace_status pace_history_ask(pace_history_asked *out, const char *const *paths, size_t count,
                             const pace_history_options *options) {
    PACE_TRY(check(paths, count, options));
    PACE_TRY(pace_paths_of_tables(&out->files, &out->warnings, paths, count)); /* twice given would count twice */
    PACE_TRY(pace_results_read(&out->results, (const char *const *)out->files.items, out->files.count));
    PACE_TRY(find_series(out, options));
    return find_changes(out, options);
}

void pace_history_asked_free(pace_history_asked *asked) {
    PACE_ITEMS (pace_series_history, one, &asked->series) free_history(&one->value);
    PACE_VEC_FREE(&asked->series, &asked->changes);
    pace_results_free(&asked->results);
    pace_texts_free(&asked->files);
    pace_warnings_free(&asked->warnings);
}
