/* The figures of a case: of its rows, or of what a fit found. */
#include "ask/validate/case_table.h"
#include "ask/validate/validate.h"
#include "base/sort.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { OVER_NONE, OVER_MEDIAN, OVER_MEAN, OVER_P90, OVER_P95, OVER_MAX, OVER_SUM, OVER_LEAST } over;

/* "median_mape": how, and of what. */
static over over_of(const char **rest, const char *metric) {
    static const struct {
        const char *prefix;
        over how;
    } all[] = {
        {"median_", OVER_MEDIAN}, {"mean_", OVER_MEAN}, {"p90_", OVER_P90}, {"max_", OVER_MAX}, {"least_", OVER_LEAST}};
    for (size_t i = 0; i < PACE_COUNT(all); i++)
        if (pace_starts(metric, all[i].prefix)) {
            *rest = metric + strlen(all[i].prefix);
            return all[i].how;
        }
    *rest = metric;
    return OVER_NONE;
}

/* Of `count` values, which are sorted here. */
static double summary(double *values, size_t count, over how) {
    double sum = 0;
    if (count == 0) return NAN;
    qsort(values, count, sizeof *values, pace_ascending);
    for (size_t i = 0; i < count; i++) sum += values[i];
    size_t share = (size_t)((how == OVER_P95 ? 0.95 : 0.9) * (double)count);
    switch (how) {
    case OVER_MEDIAN: return (values[(count - 1) / 2] + values[count / 2]) / 2;
    case OVER_P90:
    case OVER_P95: return values[share < count ? share : count - 1];
    case OVER_MAX: return values[count - 1];
    case OVER_SUM: return sum;
    default: return sum / (double)count;
    }
}

/* --- of what a fit found ------------------------------------------------------------------------------------------ */

static pace_status row_counts(bool *out, const pace_found *table, size_t row, const pace_yaml_node *where) {
    *out = true;
    PACE_YAML_EACH (words, where) {
        int column = pace_found_column_of(table, pace_yaml_key_of(words));
        bool found = false;
        if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", table->key, pace_yaml_key_of(words));
        const char *cell = pace_found_at(table, row, column)->text;
        for (size_t k = 0; cell && k < pace_yaml_count(words); k++) {
            const char *word = pace_yaml_text(pace_yaml_item(words, k));
            found |= word && pace_case_says(cell, word);
        }
        *out &= found;
    }
    return PACE_OK;
}

/* The column that says how many rows of a table's row there are. */
static int weight_of(const pace_found *table) {
    static const char *const counts[] = {"held_out", "pairs", "rows"};
    int column = -1;
    for (size_t i = 0; i < PACE_COUNT(counts) && column < 0; i++) column = pace_found_column_of(table, counts[i]);
    return column;
}

/* Fills `values` and, weighted by rows, `sum` and `rows`. */
static pace_status gather(double *values, size_t *count, double *sum, double *rows, const pace_found *table,
                          const pace_case *one, int column) {
    int weight = weight_of(table);
    for (size_t row = 0; row < pace_found_rows(table); row++) {
        bool counts;
        double value = pace_found_at(table, row, column)->number;
        double weighs = weight < 0 ? 1 : pace_found_at(table, row, weight)->number;
        PACE_TRY(row_counts(&counts, table, row, one->found_where));
        if (!counts || isnan(value)) continue;
        values[(*count)++] = value;
        *sum += weighs * value;
        *rows += weighs;
    }
    return PACE_OK;
}

enum { LEAST_ROWS = 20 }; /* of a name, to count */

/* The least of the means, weighted by rows, of all that have one text in the table's first column; `names` receives how
 * many such texts there are. NAN: none has rows enough. */
static pace_status least_of_names(double *out, size_t *names, const pace_found *table, const pace_case *one,
                                  int column) {
    int weight = weight_of(table);
    *names = 0;
    *out = NAN;
    for (size_t first = 0; weight >= 0 && first < pace_found_rows(table); first++) {
        const char *name = pace_found_at(table, first, 0)->text;
        double sum = 0, rows = 0;
        bool seen = false, counts;
        for (size_t row = 0; name && row < pace_found_rows(table); row++) {
            const char *other = pace_found_at(table, row, 0)->text;
            double value = pace_found_at(table, row, column)->number;
            PACE_TRY(row_counts(&counts, table, row, one->found_where));
            if (!other || strcmp(other, name) != 0 || !counts || isnan(value)) continue;
            seen |= row < first;
            sum += pace_found_at(table, row, weight)->number * value;
            rows += pace_found_at(table, row, weight)->number;
        }
        if (seen || rows < LEAST_ROWS) continue;
        *out = fmin(sum / rows, *out);
        ++*names;
    }
    return PACE_OK;
}

static pace_status of_found(double *out, size_t *count, const pace_findings *findings, const pace_case *one,
                            const char *metric) {
    const pace_found *table = pace_findings_find(findings, one->found);
    const char *key;
    over how = over_of(&key, metric);
    int column = table && table->kind == PACE_FOUND_TABLE ? pace_found_column_of(table, key) : -1;
    if (column < 0)
        return pace_fail(PACE_E_INPUT, "case %s: the fit finds no table \"%.40s\" with a column \"%.40s\"", one->name,
                         one->found, key);
    if (how == OVER_LEAST) return least_of_names(out, count, table, one, column);
    size_t used = 0;
    double sum = 0, rows = 0, *values = pace_alloc(pace_found_rows(table) + 1, sizeof *values);
    if (!values) return PACE_E_MEMORY;
    pace_status status = gather(values, &used, &sum, &rows, table, one, column);
    *out = how == OVER_NONE ? sum / rows : summary(values, used, how);
    *count = how == OVER_NONE ? (size_t)rows : used;
    pace_free(values);
    return status;
}

/* --- of rows ------------------------------------------------------------------------------------------------------ */

static double error_of(const pace_case_row *row) { return fabs(row->predicted / row->measured - 1); }
static double ratio_of(const pace_case_row *row) { return row->predicted / row->measured; }
static double distance_of(const pace_case_row *row) { return fabs(log(row->predicted / row->measured)); }

static pace_status summarize(double *out, const pace_case_score *score, double (*of)(const pace_case_row *row),
                             over how) {
    double *values = pace_alloc(score->rows.count + 1, sizeof *values);
    if (!values) return PACE_E_MEMORY;
    for (size_t i = 0; i < score->rows.count; i++) values[i] = of(&score->rows.items[i]);
    *out = summary(values, score->rows.count, how);
    pace_free(values);
    return PACE_OK;
}

static double value_of(const pace_case_row *row) { return row->predicted; }
static double apart_of(const pace_case_row *row) { return fabs(row->predicted - row->measured); }
static double log_ratio_of(const pace_case_row *row) { return log(ratio_of(row)); }
static double is_at_most(const pace_case_row *row) { return row->predicted <= row->measured; }
static double is_apart(const pace_case_row *row) { return !row->within; }
static double is_unfit(const pace_case_row *row) { return row->unfit; }

/* Of pairs alike in the columns of `orders` that were measured further apart than `gap`, the share predicted in their
 * order. */
static double share_right(size_t *pairs, const pace_case_score *score, double gap) {
    size_t right = 0;
    *pairs = 0;
    for (size_t i = 0; i < score->rows.count; i++)
        for (size_t k = 0; k < i; k++) {
            const pace_case_row *a = &score->rows.items[i], *b = &score->rows.items[k];
            double apart = a->measured - b->measured;
            if (a->group != b->group || fabs(apart) <= gap * fmin(a->measured, b->measured)) continue;
            right += (apart > 0) == (a->predicted > b->predicted);
            ++*pairs;
        }
    return *pairs ? (double)right / (double)*pairs : NAN;
}

/* The first row of the group of row `i`. */
static size_t first_alike(const pace_case_score *score, size_t i) {
    size_t first = 0;
    while (score->rows.items[first].group != score->rows.items[i].group) first++;
    return first;
}

/* Rows of a group that are predicted alike cannot be told apart: what they took in the mean. `first` receives whether
 * the row is the first of them. */
static double mean_of_alike(bool *first, const pace_case_score *score, const pace_case_row *row) {
    double sum = 0, count = 0;
    PACE_ITEMS (const pace_case_row, other, &score->rows) {
        if (other->group != row->group || other->predicted != row->predicted) continue;
        if (count++ == 0) *first = other == row;
        sum += other->measured;
    }
    return sum / count;
}

/* What the choice predicted to be the fastest of its group took beyond the group's fastest: its measured time over
 * theirs, less 1. `choices` receives how many there were. */
static double regret_of_group(const pace_case_score *score, size_t first, size_t *choices) {
    const pace_case_row *chosen = &score->rows.items[first];
    double least = INFINITY, took = NAN;
    *choices = 0;
    for (size_t i = first; i < score->rows.count; i++) {
        const pace_case_row *row = &score->rows.items[i];
        bool is_first = false;
        if (row->group != chosen->group) continue;
        double mean = mean_of_alike(&is_first, score, row);
        if (row->predicted <= chosen->predicted) chosen = row, took = mean;
        least = fmin(least, mean);
        *choices += is_first;
    }
    return took / least - 1;
}

/* The largest regret of the groups of `orders` that leave a choice; `groups` receives how many do. */
static double most_regret(size_t *groups, const pace_case_score *score) {
    double most = NAN;
    *groups = 0;
    for (size_t i = 0; i < score->rows.count; i++) {
        size_t choices;
        if (first_alike(score, i) != i) continue;
        double regret = regret_of_group(score, i, &choices);
        if (choices < 2) continue;
        most = fmax(regret, most);
        ++*groups;
    }
    return most;
}

/* How far, in the mean, rows scale otherwise than the first row of their group does: their ratio over its, less 1. */
static double mean_drift(size_t *rows, const pace_case_score *score) {
    double sum = 0;
    *rows = 0;
    for (size_t i = 0; i < score->rows.count; i++) {
        size_t first = first_alike(score, i);
        if (first == i) continue;
        sum += fabs(ratio_of(&score->rows.items[i]) / ratio_of(&score->rows.items[first]) - 1);
        ++*rows;
    }
    return *rows ? sum / (double)*rows : NAN;
}

enum { GROUP = 10 }; /* rows that a median is taken of, at least */

/* The median of the ratios of the rows of a group, NAN of a small one. */
static double median_of_group(double *values, const pace_case_score *score, uint64_t group) {
    size_t count = 0;
    for (size_t i = 0; i < score->rows.count; i++)
        if (score->rows.items[i].group == group) values[count++] = ratio_of(&score->rows.items[i]);
    return count < GROUP ? (double)NAN : summary(values, count, OVER_MEDIAN);
}

/* How far apart the medians of the groups of `orders` are: the largest over the least; NAN when no group has one. */
static pace_status medians_apart(double *out, const pace_case_score *score) {
    double least = INFINITY, most = 0, *values = pace_alloc(score->rows.count + 1, sizeof *values);
    if (!values) return PACE_E_MEMORY;
    for (size_t i = 0; i < score->rows.count; i++) {
        double median = median_of_group(values, score, score->rows.items[i].group);
        least = fmin(least, median), most = fmax(most, median);
    }
    *out = most > 0 ? most / least - 1 : (double)NAN;
    pace_free(values);
    return PACE_OK;
}

enum { SET = 30 }; /* rows that a coverage is taken of, at least */

/* The least of the coverages of groups, or the highest; `sets` receives how many have one. */
static double outer_coverage(size_t *sets, const pace_case_score *score, bool highest) {
    double outer = NAN;
    *sets = 0;
    for (size_t i = 0; i < score->rows.count; i++) {
        double rows = 0, within = 0;
        if (first_alike(score, i) != i) continue;
        PACE_ITEMS (const pace_case_row, row, &score->rows) {
            bool ours = row->group == score->rows.items[i].group;
            rows += ours, within += ours && row->within;
        }
        if (rows < SET) continue;
        outer = highest ? fmax(within / rows, outer) : fmin(within / rows, outer);
        ++*sets;
    }
    return outer;
}

static double of_sums(const pace_score *sums, const char *metric) {
    if (strcmp(metric, "gmae") == 0) return pace_score_gmae(sums);
    if (strcmp(metric, "geomean") == 0) return pace_score_geomean(sums);
    if (strcmp(metric, "mape") == 0) return pace_score_mape(sums);
    if (strcmp(metric, "signed_mean") == 0) return pace_score_signed_mean(sums);
    if (strcmp(metric, "coverage") == 0) return pace_score_coverage(sums);
    if (strcmp(metric, "sum") == 0) return sums->signed_error * 100; /* of errors that are published in per cent */
    return strcmp(metric, "max") == 0 ? sums->largest : NAN;
}

/* Metrics that are a summary of one figure of each row. */
static const struct {
    const char *metric;
    double (*of)(const pace_case_row *row);
    over how;
} summaries[] = {
    {"median_error", error_of, OVER_MEDIAN},
    {"median_ratio", ratio_of, OVER_MEDIAN},
    {"p95_error", error_of, OVER_P95},
    {"mean_distance", distance_of, OVER_MEAN},
    {"max_distance", apart_of, OVER_MAX},
    {"mean_value", value_of, OVER_MEAN},
    {"geometric_ratio", log_ratio_of, OVER_MEAN},
    {"share_at_most", is_at_most, OVER_MEAN},
    {"differing", is_apart, OVER_SUM},
    {"share_told_unfit", is_unfit, OVER_MEAN},
};

static pace_status of_rows(double *out, size_t *count, const pace_case_score *score, const pace_case *one,
                           const char *metric) {
    *count = score->score.count;
    *out = of_sums(&score->score, metric);
    if (strcmp(metric, "share_right") == 0) *out = share_right(count, score, one->order_gap);
    if (strcmp(metric, "most_regret") == 0) *out = most_regret(count, score);
    if (strcmp(metric, "lowest_coverage") == 0) *out = outer_coverage(count, score, false);
    if (strcmp(metric, "highest_coverage") == 0) *out = outer_coverage(count, score, true);
    if (strcmp(metric, "drift") == 0) *out = mean_drift(count, score);
    if (strcmp(metric, "medians_apart") == 0) return medians_apart(out, score);
    for (size_t i = 0; i < PACE_COUNT(summaries); i++)
        if (strcmp(metric, summaries[i].metric) == 0)
            PACE_TRY(summarize(out, score, summaries[i].of, summaries[i].how));
    if (strcmp(metric, "mean_distance") == 0) *out = exp(*out) - 1;
    if (strcmp(metric, "geometric_ratio") == 0) *out = exp(*out);
    return PACE_OK;
}

pace_status pace_case_metric(double *out, size_t *count, const pace_case_score *score, const pace_case *one,
                             const char *metric) {
    if (one->found) return of_found(out, count, &score->findings, one, metric);
    PACE_TRY(of_rows(out, count, score, one, metric));
    if (!isnan(*out)) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "case %s: no metric \"%.40s\" of rows", one->name, metric);
}
