#include "ask/validate.h"

#include "ask/case_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT_OUT = -2, ALWAYS_FITTED = -1 };

typedef struct {
    pace_catalog *catalog;
    const pace_case *one;
    const pace_row_kind *kind;
    void *state;
    pace_rows_options options;
    pace_row_table tables[PACE_CASE_FILES];
    unsigned count;
    PACE_VEC(int) fold[PACE_CASE_FILES]; /* of each question: in which it is held out */
    PACE_VEC(char *) words;              /* that tell folds apart, of `each` and `from`; borrowed */
    int measured;                        /* column of the table that answers are held against, -1 = times */
    int now;
} checker;

void pace_case_score_free(pace_case_score *score) {
    PACE_VEC_FREE(&score->errors);
    PACE_VEC_FREE(&score->distances);
    pace_findings_free(&score->findings);
}

/* --- folds -------------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The work at the quantile among the questions of the table that are of this class. */
static pace_status work_quantile(double *out, const checker *c, unsigned t, const char *class_name) {
    PACE_VEC(double) work = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < c->tables[t].questions; i++) {
        const char *other;
        double one = c->kind->work(&other, c->state, t, i);
        if (strcmp(other, class_name) == 0) status = PACE_PUSH(&work, one);
    }
    if (status == PACE_OK && work.count > 0) {
        qsort(work.items, work.count, sizeof *work.items, ascending);
        *out = work.items[(size_t)(c->one->beyond * (double)(work.count - 1))];
    }
    PACE_VEC_FREE(&work);
    return status;
}

/* The quantile of each class, found once. */
typedef struct {
    PACE_VEC(double) limits;
    PACE_VEC(const char *) classes;
} quantiles;

static pace_status is_beyond(bool *out, const checker *c, quantiles *known, unsigned t, size_t question) {
    const char *class_name;
    size_t k = 0;
    if (!c->kind->work)
        return pace_fail(PACE_E_INPUT, "case %s: rows of kind %s have no work to go beyond", c->one->name,
                         c->kind->name);
    double work = c->kind->work(&class_name, c->state, t, question);
    while (k < known->classes.count && strcmp(known->classes.items[k], class_name) != 0) k++;
    if (k == known->classes.count) {
        double limit = 0;
        PACE_TRY(work_quantile(&limit, c, t, class_name));
        PACE_TRY(PACE_PUSH(&known->classes, class_name));
        PACE_TRY(PACE_PUSH(&known->limits, limit));
    }
    *out = work > known->limits.items[k];
    return PACE_OK;
}

/* The number of a row's word in a column, in order of first appearance. */
static pace_status fold_of_word(int *out, checker *c, const pace_csv *csv, size_t row, const char *name) {
    int column = pace_csv_find_any_case(csv, name, strlen(name));
    size_t k = 0;
    if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.60s\"", csv->name, name);
    const char *word = pace_csv_cell(csv, row, (size_t)column);
    while (k < c->words.count && strcmp(c->words.items[k], word) != 0) k++;
    if (k == c->words.count) PACE_TRY(PACE_PUSH(&c->words, (char *)word));
    *out = (int)k;
    return PACE_OK;
}

static pace_status group_of(uint64_t *out, const checker *c, unsigned t, size_t question, size_t row) {
    if (c->kind->group) return c->kind->group(out, c->state, t, question, c->one->by);
    return pace_row_group(out, c->tables[t].csv, row, c->one->by);
}

/* Whether a row that counts is held out of all fits. */
static pace_status is_test(bool *out, checker *c, quantiles *known, unsigned t, size_t question, size_t row) {
    const pace_case *one = c->one;
    bool test = false;
    uint64_t group;
    if (one->test_where) PACE_TRY(pace_case_matches(&test, c->tables[t].csv, row, one->test_where));
    if (one->test_share > 0) {
        PACE_TRY(group_of(&group, c, t, question, row));
        test |= (double)group < one->test_share * 0x1p53;
    }
    if (one->beyond > 0 && !test) PACE_TRY(is_beyond(&test, c, known, t, question));
    *out = test || !one->fit;
    return PACE_OK;
}

static pace_status fold_of(int *out, checker *c, quantiles *known, unsigned t, size_t question) {
    const pace_case *one = c->one;
    const pace_csv *csv = c->tables[t].csv;
    pace_row_question asked;
    bool counts, test;
    uint64_t group;
    *out = LEFT_OUT;
    c->kind->question(&asked, c->state, t, question);
    PACE_TRY(pace_case_matches(&counts, csv, asked.row, one->where));
    if (!counts || (c->measured < 0 && isnan(asked.measured_s))) return PACE_OK;
    if (one->each || one->from) return fold_of_word(out, c, csv, asked.row, one->each ? one->each : one->from);
    if (one->folds > 0) {
        PACE_TRY(group_of(&group, c, t, question, asked.row));
        *out = (int)(group % one->folds);
        return PACE_OK;
    }
    PACE_TRY(is_test(&test, c, known, t, question, asked.row));
    if (!test) PACE_TRY(pace_case_matches(&counts, csv, asked.row, one->fit_where));
    *out = test ? 0 : counts ? ALWAYS_FITTED : LEFT_OUT;
    return PACE_OK;
}

static pace_status assign_folds(checker *c) {
    for (unsigned t = 0; t < c->count; t++) {
        quantiles known = {0};
        pace_status status = PACE_OK;
        for (size_t i = 0; status == PACE_OK && i < c->tables[t].questions; i++) {
            int fold = LEFT_OUT;
            status = fold_of(&fold, c, &known, t, i);
            if (status == PACE_OK) status = PACE_PUSH(&c->fold[t], fold);
        }
        PACE_VEC_FREE(&known.limits);
        PACE_VEC_FREE(&known.classes);
        PACE_TRY(status);
    }
    return PACE_OK;
}

static bool is_fitted(void *context, size_t table, size_t question) {
    const checker *c = context;
    int fold = c->fold[table].items[question];
    return c->one->from ? fold == c->now : fold != LEFT_OUT && fold != c->now;
}

static bool is_held_out(const checker *c, unsigned table, size_t question) {
    int fold = c->fold[table].items[question];
    return c->one->from ? fold != LEFT_OUT && fold != c->now : fold == c->now;
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

static pace_status add_score(pace_case_score *out, pace_estimate predicted, double measured) {
    pace_score_estimate(&out->score, predicted, measured);
    PACE_TRY(PACE_PUSH(&out->errors, fabs(predicted.median / measured - 1)));
    return PACE_PUSH(&out->distances, log(predicted.median / measured));
}

/* An answer's column against a figure of the table: there is no interval. */
static pace_status score_column(pace_case_score *out, const checker *c, const pace_csv *csv, size_t row,
                                const pace_row_answer *answer) {
    double measured, predicted = NAN;
    for (size_t i = 0; i < c->kind->column_count; i++)
        if (strcmp(c->kind->columns[i].key, c->one->answer) == 0) predicted = answer->cells[i].number;
    if (isnan(predicted) || !pace_csv_number(&measured, pace_csv_cell(csv, row, (size_t)c->measured))) return PACE_OK;
    return measured > 0 ? add_score(out, (pace_estimate){.median = predicted}, measured) : PACE_OK;
}

static pace_status score_held_out(pace_case_score *out, checker *c) {
    for (unsigned t = 0; t < c->count; t++)
        for (size_t i = 0; i < c->tables[t].questions; i++) {
            pace_row_question asked;
            pace_row_answer answer = {0};
            if (!is_held_out(c, t, i)) continue;
            c->kind->question(&asked, c->state, t, i);
            c->kind->answer(&answer, c->state, t, i);
            if (!answer.known) continue;
            PACE_TRY(c->measured < 0 ? add_score(out, answer.time_s, asked.measured_s)
                                     : score_column(out, c, c->tables[t].csv, asked.row, &answer));
        }
    return PACE_OK;
}

static pace_status run_folds(pace_case_score *out, checker *c) {
    size_t folds = c->one->each || c->one->from ? c->words.count : c->one->folds > 0 ? c->one->folds : 1;
    for (size_t f = 0; f < folds; f++) {
        c->now = (int)f;
        if (c->one->fit) PACE_TRY(c->kind->learn(c->state, is_fitted, c));
        PACE_TRY(score_held_out(out, c));
    }
    return PACE_OK;
}

/* What a fit of all rows finds. */
static pace_status find(pace_case_score *out, const checker *c) {
    PACE_TRY(c->kind->learn(c->state, NULL, NULL));
    PACE_TRY(c->kind->describe(&out->findings, c->state));
    return pace_findings_status(&out->findings);
}

static pace_status path_of(char *out, size_t size, const char *folder, const char *file) {
    if (snprintf(out, size, "%s/%s", folder, file) < (int)size) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: the path is too long", file);
}

/* Which column answers are held against. */
static pace_status find_measured(checker *c) {
    c->measured = -1;
    if (!c->one->measured) return PACE_OK;
    c->measured = c->tables[0].csv ? pace_csv_find(c->tables[0].csv, c->one->measured) : -1;
    if (c->measured >= 0 && c->one->answer) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "case %s: expected \"answer\", and a column \"%.60s\"", c->one->name,
                     c->one->measured);
}

static pace_status open_tables(checker *c, const char *folder) {
    PACE_TRY(c->kind->open(&c->state, &c->options));
    for (unsigned i = 0; i < c->one->file_count; i++) {
        char path[4096];
        PACE_TRY(path_of(path, sizeof path, folder, c->one->files[i]));
        PACE_TRY(pace_case_table_read(c->one, path, c->kind->read, c->state));
    }
    c->count = c->one->file_count;
    for (unsigned i = 0; i < c->count; i++) c->tables[i] = c->kind->table(c->state, i);
    return find_measured(c);
}

static pace_status predict_held_out(pace_case_score *out, pace_context *context, const pace_case *one,
                                    const pace_row_kind *kind, const char *folder) {
    checker c = {.one = one,
                 .kind = kind,
                 .options = {.context = context,
                             .device = one->on,
                             .collective = one->collective,
                             .probes = one->probes,
                             .split = one->fit_split ? one->fit_split
                                      : kind->group  ? one->by
                                                     : NULL}};
    pace_status status = open_tables(&c, folder);
    if (status == PACE_OK && one->found) status = find(out, &c);
    else if (status == PACE_OK) {
        status = assign_folds(&c);
        if (status == PACE_OK) status = run_folds(out, &c);
    }
    kind->close(c.state);
    PACE_VEC_FREE(&c.words);
    for (unsigned i = 0; i < PACE_CASE_FILES; i++) PACE_VEC_FREE(&c.fold[i]);
    return status;
}

/* --- errors that somebody published, summed up as ours are -------------------------------------------------------- */

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
        char path[4096];
        pace_csv csv;
        PACE_TRY(path_of(path, sizeof path, folder, one->files[i]));
        PACE_TRY(pace_csv_open(&csv, path));
        pace_status status = score_errors(score, one, &csv);
        pace_csv_free(&csv);
        PACE_TRY(status);
    }
    return PACE_OK;
}

pace_status pace_validate_case(pace_case_score *out, pace_context *context, const pace_case *one,
                               const pace_row_kinds *kinds, const char *folder) {
    pace_case_score score = {0};
    const pace_row_kind *kind = NULL;
    pace_status status = pace_row_kind_find(&kind, kinds, one->kind ? one->kind : "kernel", !one->found);
    if (status == PACE_OK)
        status = one->errors ? sum_up(&score.score, one, folder) : predict_held_out(&score, context, one, kind, folder);
    if (status == PACE_OK && score.score.count == 0 && !one->found)
        status = pace_fail(PACE_E_INPUT, "case %s: no row is held out", one->name);
    if (status == PACE_OK) *out = score;
    else pace_case_score_free(&score);
    return status;
}
