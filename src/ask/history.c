#include "ask/history.h"

#include "base/sort.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_LAST = 3 };

const char *pace_history_value_of(const char *verb) {
    static const char *const values[][2] = {{"analyze", "step_spread.median_ns"},
                                            {"compare", "b_step_ns"},
                                            {"predict", "step.median_s"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], verb) == 0) return values[i][1];
    return NULL;
}

/* --- series ------------------------------------------------------------------------------------------------------- */

pace_status pace_history_series(const char **out, const pace_results *results, const char *asked) {
    char known[256] = "";
    size_t used = 0, different = 0;
    const char *only = NULL;
    for (size_t i = 0; i < results->runs.count; i++) {
        const char *series = results->runs.items[i].series;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = strcmp(results->runs.items[k].series, series) == 0;
        if (asked && strcmp(series, asked) == 0) {
            *out = series;
            return PACE_OK;
        }
        if (seen) continue;
        different++;
        only = series;
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", series);
    }
    if (!only) return pace_fail(PACE_E_INPUT, "expected results that " PACE_FIELD "store wrote, found none");
    if (asked) return pace_fail(PACE_E_USAGE, "series: expected one of %s, found '%.80s'", known, asked);
    if (different > 1) return pace_fail(PACE_E_USAGE, "series: expected one of %s, found none", known);
    *out = only;
    return PACE_OK;
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

static pace_status collect(pace_value_history *history, const pace_results *results, const char *series,
                           const char *path) {
    for (size_t i = 0; i < results->figures.count; i++) {
        const pace_stored_figure *figure = &results->figures.items[i];
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
    qsort(sorted, count, sizeof *sorted, pace_ascending);
    double middle = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    pace_free(sorted);
    return middle;
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
    pace_status status = pace_rank_test_of(out, scaled, h->before, scaled + h->before, h->last);
    if (status == PACE_OK && !positive) out->low = out->high = NAN;
    pace_free(scaled);
    return status;
}

static pace_status compare(pace_value_history *h, size_t last) {
    size_t count = h->values.count;
    pace_rank_test test;
    h->last = last < count ? last : count ? 1 : 0;
    h->before = count - h->last;
    h->ratio = h->low = h->high = h->before_median = NAN;
    h->last_median = h->last ? median(h->values.items + h->before, h->last) : NAN;
    h->verdict = PACE_CHANGE_NONE;
    h->p = 1;
    if (h->before == 0) return PACE_OK;
    h->before_median = median(h->values.items, h->before);
    PACE_TRY(test_values(&test, h));
    if (h->before_median > 0) h->ratio = h->last_median / h->before_median;
    h->low = test.low;
    h->high = test.high;
    h->p = test.p;
    h->verdict = pace_change_judge(h->before, h->last, &test);
    return PACE_OK;
}

static pace_status no_value(const pace_results *results, const char *series, const char *path) {
    const char *closest = "";
    for (size_t i = 0; i < results->figures.count; i++) {
        const pace_stored_figure *figure = &results->figures.items[i];
        bool ours = strcmp(results->runs.items[figure->run].series, series) == 0;
        if (ours && (!*closest || pace_word_edits(path, figure->path) < pace_word_edits(path, closest)))
            closest = figure->path;
    }
    return pace_fail(PACE_E_USAGE, "value: no run of %s has \"%.200s\"; the closest is \"%.200s\"", series, path,
                     closest);
}

pace_status pace_value_history_find(pace_value_history *out, const pace_results *results, const char *series,
                                    const char *path, size_t last) {
    pace_value_history history = {.more_is_better = pace_ends(path, "_per_s")};
    pace_status status = collect(&history, results, series, path);
    if (status == PACE_OK && history.values.count == 0) status = no_value(results, series, path);
    if (status == PACE_OK) status = compare(&history, last ? last : USUAL_LAST);
    if (status != PACE_OK) pace_value_history_free(&history);
    else *out = history;
    return status;
}

pace_status pace_value_history_of(pace_value_history *out, const pace_stored_figure *const *figures, size_t count,
                                  size_t last) {
    pace_value_history history = {.path = figures[0]->path, .more_is_better = pace_ends(figures[0]->path, "_per_s")};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        status = PACE_PUSH(&history.runs, figures[i]->run);
        if (status == PACE_OK) status = PACE_PUSH(&history.values, figures[i]->value);
    }
    if (status == PACE_OK) status = compare(&history, last ? last : USUAL_LAST);
    if (status != PACE_OK) pace_value_history_free(&history);
    else *out = history;
    return status;
}

void pace_value_history_free(pace_value_history *history) {
    PACE_VEC_FREE(&history->runs);
    PACE_VEC_FREE(&history->values);
}

double pace_history_worse_by(const pace_value_history *history) {
    return history->more_is_better ? 1 - history->ratio : history->ratio - 1;
}
