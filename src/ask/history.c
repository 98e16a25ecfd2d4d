#include "ask/history.h"
#include "base/autocorrelation.h"
#include "base/change_point.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/print.h"

#include <math.h>
#include <string.h>

enum { USUAL_LAST = 3, USUAL_WINDOW = 50 };

/* How likely a series without a change of level has one by chance: as a whole, and behind each of its runs. */
#define LEVEL_CHANCE 0.01
#define LEVEL_CHANCE_LATER 0.001

const char *pace_history_value_of(const char *verb, size_t number) {
    static const char *const values[][2] = {{"analyze", "step_spread.median_ns"},
                                            {"compare", "b_step_ns"},
                                            {"predict", "step.median_s"},
                                            {"predict", "step_s"}}; /* of a job */
    for (size_t i = 0; i < PACE_COUNT(values); i++)
        if (strcmp(values[i][0], verb) == 0 && number-- == 0) return values[i][1];
    return NULL;
}

/* --- series ------------------------------------------------------------------------------------------------------- */

static bool is_listed(const pace_series_list *list, const char *series) {
    return pace_word_number((const char *const *)list->items, list->count, series) >= 0;
}

static pace_status unknown_series(const pace_series_list *all, const char *asked) {
    char known[256] = "";
    for (size_t i = 0; i < all->count; i++) pace_list(known, sizeof known, ", ", "%s", all->items[i]);
    return pace_fail(PACE_E_USAGE, "series: expected one of %s, found '%.80s'", known, asked);
}

pace_status pace_history_series(pace_series_list *out, const pace_results *results, const char *asked) {
    pace_series_list all = {0};
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

pace_status pace_value_history_find(pace_value_history *out, const pace_results *results, const char *series,
                                    const char *path, const pace_history_options *options) {
    pace_value_history history = {.more_is_better = more_is_better(path)};
    pace_status status = collect(&history, results, series, path);
    if (status == PACE_OK && history.values.count == 0) status = no_value(results, series, path, !options->value);
    if (status == PACE_OK) status = compare(&history, options);
    if (status == PACE_OK) status = find_level(&history, options);
    return PACE_GIVE(out, history, status, pace_value_history_free(&history));
}

pace_status pace_value_history_of(pace_value_history *out, const pace_stored_figure *const *figures, size_t count,
                                  const pace_history_options *options) {
    pace_value_history history = {.path = figures[0]->path, .more_is_better = more_is_better(figures[0]->path)};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        status = PACE_PUSH(&history.runs, figures[i]->run);
        if (status == PACE_OK) status = PACE_PUSH(&history.values, figures[i]->value);
    }
    if (status == PACE_OK) status = compare(&history, options);
    return PACE_GIVE(out, history, status, pace_value_history_free(&history));
}

void pace_value_history_free(pace_value_history *history) { PACE_VEC_FREE(&history->runs, &history->values); }

double pace_history_worse_by(const pace_value_history *history, double more) {
    return history->more_is_better ? -more : more;
}

bool pace_history_is_worse(const pace_value_history *history, double limit) {
    bool last = history->before > 0 && history->verdict != PACE_CHANGE_CHANCE;
    if (last && pace_history_worse_by(history, history->more) > limit) return true;
    return history->level.found && pace_history_worse_by(history, history->level.more) > limit;
}
