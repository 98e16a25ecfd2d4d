/* A case about steps: rows of some models, or of some ways to share the work, are held out and predicted. */
#include "ask/step_fit.h"
#include "ask/validate.h"

#include <stdio.h>
#include <string.h>

enum { LEFT_OUT = -2, ALWAYS_FITTED = -1 };

typedef struct {
    const pace_case *one;
    pace_step_rows tables[PACE_CASE_FILES];
    unsigned count;
    pace_step_pricer pricer;
    PACE_VEC(int) fold[PACE_CASE_FILES]; /* of each row: in which it is held out */
    int now;
} checker;

/* A hash of the cells of the columns in `by` ("tp,pp"). */
static pace_status group_of(uint64_t *out, const pace_csv *csv, size_t row, const char *by) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *key = by; key && *key; key += strcspn(key, ",") + (key[strcspn(key, ",")] == ',')) {
        size_t length = strcspn(key, ",");
        int column = pace_csv_find_any_case(csv, key, length);
        if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.*s\"", csv->name, (int)length, key);
        for (const char *c = pace_csv_cell(csv, row, (size_t)column); *c; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        hash = (hash ^ '|') * UINT64_C(0x100000001b3);
    }
    *out = pace_case_spread_bits(hash);
    return PACE_OK;
}

static pace_status fold_of(int *out, const checker *c, unsigned t, const pace_step_row *row) {
    const pace_csv *csv = &c->tables[t].csv;
    bool counts, test = false;
    uint64_t group = 0;
    *out = LEFT_OUT;
    PACE_TRY(pace_case_matches(&counts, csv, row->row, c->one->where));
    if (!counts || !row->model || !(row->measured_s > 0)) return PACE_OK;
    if (c->one->test_where) PACE_TRY(pace_case_matches(&test, csv, row->row, c->one->test_where));
    PACE_TRY(group_of(&group, csv, row->row, c->one->by));
    if (c->one->folds > 0) {
        *out = (int)(group % c->one->folds);
        return PACE_OK;
    }
    if (c->one->test_share > 0) test |= (double)group < c->one->test_share * 0x1p53;
    *out = test || !c->one->fit ? 0 : ALWAYS_FITTED;
    return PACE_OK;
}

static pace_status open_tables(checker *c, const char *folder) {
    pace_step_defaults defaults = {c->one->on};
    for (unsigned i = 0; i < c->one->file_count; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", folder, c->one->files[i]) >= (int)sizeof path)
            return pace_fail(PACE_E_INPUT, "%s: the path is too long", c->one->files[i]);
        PACE_TRY(pace_step_rows_open(&c->tables[i], path, &defaults));
        c->count++;
        for (size_t k = 0; k < c->tables[i].rows.count; k++) {
            int fold;
            PACE_TRY(fold_of(&fold, c, i, &c->tables[i].rows.items[k]));
            PACE_TRY(PACE_PUSH(&c->fold[i], fold));
        }
    }
    return PACE_OK;
}

static bool is_fitted(void *context, size_t table, size_t row) {
    const checker *c = context;
    int fold = c->fold[table].items[row];
    return fold != LEFT_OUT && fold != c->now;
}

static pace_status run_fold(pace_score *score, checker *c) {
    pace_step_fit fit;
    pace_step_fit_score outcome;
    if (c->one->fit) PACE_TRY(pace_step_rows_fit(&fit, &outcome, c->tables, c->count, &c->pricer, is_fitted, c));
    for (unsigned t = 0; t < c->count; t++) {
        double spread = pace_step_rows_frameworks(&c->tables[t])->spread;
        for (size_t i = 0; i < c->tables[t].rows.count; i++) {
            const pace_step_row *row = &c->tables[t].rows.items[i];
            pace_step_answer answer;
            if (c->fold[t].items[i] != c->now) continue;
            if (pace_step_row_answer(&answer, &c->pricer, row, c->one->fit ? &fit : NULL, spread) != PACE_OK) continue;
            pace_score_add(score, answer.time_s.median, row->measured_s,
                           row->measured_s >= pace_estimate_low(answer.time_s) &&
                               row->measured_s <= pace_estimate_high(answer.time_s));
        }
    }
    return PACE_OK;
}

pace_status pace_validate_steps(pace_score *out, const pace_case *one, const char *folder) {
    checker c = {.one = one};
    pace_score score = {0};
    pace_status status = pace_step_pricer_open(&c.pricer);
    if (status == PACE_OK) status = open_tables(&c, folder);
    unsigned folds = one->folds > 0 ? one->folds : 1;
    for (unsigned f = 0; status == PACE_OK && f < folds; f++) {
        c.now = (int)f;
        status = run_fold(&score, &c);
    }
    for (unsigned i = 0; i < PACE_CASE_FILES; i++) {
        if (i < c.count) pace_step_rows_free(&c.tables[i]);
        PACE_VEC_FREE(&c.fold[i]);
    }
    pace_step_pricer_close(&c.pricer);
    if (status == PACE_OK && score.count == 0)
        status = pace_fail(PACE_E_INPUT, "case %s: no row is held out", one->name);
    if (status == PACE_OK) *out = score;
    return status;
}
