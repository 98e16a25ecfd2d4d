#include "ask/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LEFT_OUT = -2, ALWAYS_FITTED = -1 };

typedef struct {
    const pace_case *one;
    pace_kernel_rows tables[PACE_CASE_FILES];
    unsigned count;
    PACE_VEC(int) fold[PACE_CASE_FILES]; /* of each question: in which it is held out */
    int now;
} checker;

/* Whether the row's cells start with one of the words of each column. */
pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) {
    *out = true;
    for (size_t i = 0; i < pace_yaml_count(where); i++) {
        const char *key = pace_yaml_key(where, i);
        const pace_yaml_node *words = pace_yaml_item(where, i);
        int column = pace_csv_find_any_case(csv, key, strlen(key));
        if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", csv->name, key);
        const char *cell = pace_csv_cell(csv, row, (size_t)column);
        bool found = false;
        for (size_t k = 0; k < pace_yaml_count(words); k++) {
            const char *word = pace_yaml_text(pace_yaml_item(words, k));
            found |= word && strncasecmp(cell, word, strlen(word)) == 0;
        }
        *out &= found;
    }
    return PACE_OK;
}

static double work_of(const pace_op *op) {
    return op->family == PACE_OP_GEMM || op->family == PACE_OP_CONVOLUTION || op->family == PACE_OP_ATTENTION
               ? op->flop
               : op->read_bytes + op->write_bytes;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The work at the quantile among the questions of the table that are of the kind of `like`. */
static pace_status work_quantile(double *out, const pace_kernel_rows *table, const pace_kernel_row *like,
                                 double quantile) {
    PACE_VEC(double) work = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < table->rows.count; i++) {
        const pace_op *op = &table->rows.items[i].op;
        if (op->family == like->op.family && strcmp(op->kind, like->op.kind) == 0)
            status = PACE_PUSH(&work, work_of(op));
    }
    if (status == PACE_OK && work.count > 0) {
        qsort(work.items, work.count, sizeof *work.items, ascending);
        *out = work.items[(size_t)(quantile * (double)(work.count - 1))];
    }
    PACE_VEC_FREE(&work);
    return status;
}

uint64_t pace_case_spread_bits(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    return (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d) >> 11;
}

static pace_status fold_of(int *out, checker *c, unsigned t, const pace_kernel_row *row, double limit) {
    const pace_case *one = c->one;
    const pace_kernel_rows *table = &c->tables[t];
    bool counts, test = false;
    uint64_t group = 0;
    *out = LEFT_OUT;
    PACE_TRY(pace_case_matches(&counts, &table->csv, row->row, one->where));
    if (!counts || *row->status || isnan(row->time_s)) return PACE_OK;
    if (one->test_where) PACE_TRY(pace_case_matches(&test, &table->csv, row->row, one->test_where));
    if (one->test_share > 0 || one->folds > 0) {
        PACE_TRY(pace_split_group(&group, table, row, one->by));
        group = pace_case_spread_bits(group);
        if (one->folds > 0) {
            *out = (int)(group % one->folds);
            return PACE_OK;
        }
        test |= (double)group < one->test_share * 0x1p53;
    }
    if (one->beyond > 0) test |= work_of(&row->op) > limit;
    *out = test || !one->fit ? 0 : ALWAYS_FITTED;
    return PACE_OK;
}

/* Kinds come in runs, so that the quantile is found once a run. */
static pace_status assign_folds(checker *c) {
    for (unsigned t = 0; t < c->count; t++) {
        const pace_kernel_row *last = NULL;
        double limit = 0;
        PACE_VEC(double) limits = {0};
        PACE_VEC(const pace_kernel_row *) kinds = {0};
        pace_status status = PACE_OK;
        for (size_t i = 0; status == PACE_OK && i < c->tables[t].rows.count; i++) {
            const pace_kernel_row *row = &c->tables[t].rows.items[i];
            if (c->one->beyond > 0 && (!last || strcmp(last->op.kind, row->op.kind) != 0)) {
                size_t k = 0;
                while (k < kinds.count && strcmp(kinds.items[k]->op.kind, row->op.kind) != 0) k++;
                if (k == kinds.count) {
                    status = work_quantile(&limit, &c->tables[t], row, c->one->beyond);
                    if (status == PACE_OK) status = PACE_PUSH(&kinds, row);
                    if (status == PACE_OK) status = PACE_PUSH(&limits, limit);
                } else limit = limits.items[k];
                last = row;
            }
            int fold = LEFT_OUT;
            if (status == PACE_OK) status = fold_of(&fold, c, t, row, limit);
            if (status == PACE_OK) status = PACE_PUSH(&c->fold[t], fold);
        }
        PACE_VEC_FREE(&limits);
        PACE_VEC_FREE(&kinds);
        PACE_TRY(status);
    }
    return PACE_OK;
}

static bool is_fitted(void *context, size_t table, size_t question) {
    const checker *c = context;
    int fold = c->fold[table].items[question];
    return fold != LEFT_OUT && fold != c->now;
}

static void score_held_out(pace_score *score, const checker *c, const pace_cost *cost) {
    for (unsigned t = 0; t < c->count; t++) {
        for (size_t i = 0; i < c->tables[t].rows.count; i++) {
            const pace_kernel_row *row = &c->tables[t].rows.items[i];
            pace_estimate time;
            if (c->fold[t].items[i] != c->now) continue;
            if (pace_kernel_row_price(&time, cost, &c->tables[t], row) != PACE_OK) continue;
            pace_score_add(score, time.median, row->time_s,
                           row->time_s >= pace_estimate_low(time) && row->time_s <= pace_estimate_high(time));
        }
    }
}

static pace_status run_fold(pace_score *score, checker *c) {
    pace_cost *cost;
    PACE_TRY(pace_cost_create(&cost));
    pace_status status = PACE_OK;
    if (c->one->fit) {
        pace_fit_rows_options how = {c->one->by, 0};
        pace_fit_model fit;
        pace_fit_outcome outcome;
        status = pace_fit_rows(&fit, &outcome, c->tables, c->count, &how, is_fitted, c);
        if (status == PACE_OK) {
            pace_fit_outcome_free(&outcome);
            status = pace_cost_add_fit(cost, &fit);
        }
    }
    if (status == PACE_OK) score_held_out(score, c, cost);
    pace_cost_free(cost);
    return status;
}

typedef struct {
    char text[4096];
} data_path;

static pace_status path_of(data_path *out, const char *folder, const char *file) {
    if (snprintf(out->text, sizeof out->text, "%s/%s", folder, file) < (int)sizeof out->text) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: the path is too long", file);
}

/* Errors that somebody published, summed up as ours are: the metrics against the summaries printed with them. */
static pace_status score_errors(pace_score *score, const pace_case *one, const pace_csv *csv) {
    int column = pace_csv_find(csv, one->errors);
    if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", csv->name, one->errors);
    for (size_t row = 0; row < csv->rows; row++) {
        double percent;
        bool counts;
        PACE_TRY(pace_case_matches(&counts, csv, row, one->where));
        if (counts && pace_csv_number(&percent, pace_csv_cell(csv, row, (size_t)column)))
            pace_score_add(score, 100 + percent, 100, true);
    }
    return PACE_OK;
}

static pace_status sum_up(pace_score *score, const pace_case *one, const char *folder) {
    for (unsigned i = 0; i < one->file_count; i++) {
        data_path path;
        pace_csv csv;
        PACE_TRY(path_of(&path, folder, one->files[i]));
        PACE_TRY(pace_csv_open(&csv, path.text));
        pace_status status = score_errors(score, one, &csv);
        pace_csv_free(&csv);
        PACE_TRY(status);
    }
    return PACE_OK;
}

static pace_status open_tables(checker *c, const pace_device_catalog *catalog, const char *folder) {
    for (unsigned i = 0; i < c->one->file_count; i++) {
        data_path path;
        PACE_TRY(path_of(&path, folder, c->one->files[i]));
        PACE_TRY(pace_kernel_rows_open(&c->tables[i], path.text, catalog, NULL));
        c->count++;
    }
    return PACE_OK;
}

static pace_status predict_held_out(pace_score *score, const pace_case *one, const pace_device_catalog *catalog,
                                    const char *folder) {
    checker c = {.one = one};
    pace_status status = open_tables(&c, catalog, folder);
    if (status == PACE_OK) status = assign_folds(&c);
    unsigned folds = one->folds > 0 ? one->folds : 1;
    for (unsigned f = 0; status == PACE_OK && f < folds; f++) {
        c.now = (int)f;
        status = run_fold(score, &c);
    }
    for (unsigned i = 0; i < PACE_CASE_FILES; i++) {
        if (i < c.count) pace_kernel_rows_free(&c.tables[i]);
        PACE_VEC_FREE(&c.fold[i]);
    }
    return status;
}

pace_status pace_validate_case(pace_score *out, const pace_case *one, const pace_device_catalog *catalog,
                               const char *folder) {
    if (one->kind && strcmp(one->kind, "step") == 0) return pace_validate_steps(out, one, folder);
    pace_score score = {0};
    PACE_TRY(one->errors ? sum_up(&score, one, folder) : predict_held_out(&score, one, catalog, folder));
    if (score.count == 0) return pace_fail(PACE_E_INPUT, "case %s: no row is held out", one->name);
    *out = score;
    return PACE_OK;
}

double pace_score_metric(const pace_score *score, const char *metric) {
    if (strcmp(metric, "gmae") == 0) return pace_score_gmae(score);
    if (strcmp(metric, "geomean") == 0) return pace_score_geomean(score);
    if (strcmp(metric, "mape") == 0) return pace_score_mape(score);
    if (strcmp(metric, "signed_mean") == 0) return pace_score_signed_mean(score);
    if (strcmp(metric, "coverage") == 0) return pace_score_coverage(score);
    return score->largest;
}
