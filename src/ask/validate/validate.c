#include "ask/validate/validate.h"
#include "ask/validate/case_table.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { LEFT_OUT = -2, ALWAYS_FITTED = -1 };

typedef struct {
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
    PACE_VEC_FREE(&score->rows);
    pace_findings_free(&score->findings);
}

pace_status pace_case_score_add(pace_case_score *score, pace_case_row row) {
    pace_score_add(&score->score, row.predicted, row.measured, row.within);
    return PACE_PUSH(&score->rows, row);
}

/* --- folds -------------------------------------------------------------------------------------------------------- */

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
        PACE_SORT(&work, pace_ascending);
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
    *out = test || !one->fit || one->near;
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
        PACE_VEC_FREE(&known.limits, &known.classes);
        PACE_TRY(status);
    }
    return PACE_OK;
}

/* The question that counts whose figure in the column is nearest to `size`, by ratio; of two the one with the smaller
 * figure. */
static size_t nearest(const checker *c, unsigned t, int column, double size) {
    size_t best = c->tables[t].questions;
    double least = INFINITY, figure = INFINITY, value;
    for (size_t i = 0; i < c->tables[t].questions; i++) {
        pace_row_question asked;
        c->kind->question(&asked, c->state, t, i);
        if (c->fold[t].items[i] == LEFT_OUT ||
            !pace_csv_number(&value, pace_csv_cell(c->tables[t].csv, asked.row, (size_t)column)))
            continue;
        double distance = fabs(log(value / size));
        if (distance > least || (distance == least && value >= figure)) continue;
        best = i, least = distance, figure = value;
    }
    return best;
}

/* The rows nearest to some sizes are fitted, all others held out. */
static pace_status fit_nearest(checker *c) {
    const pace_yaml_node *sizes = pace_yaml_item(c->one->near, 0);
    for (unsigned t = 0; t < c->count; t++)
        PACE_YAML_EACH (entry, sizes) {
            const char *name = pace_yaml_key(c->one->near, 0), *text = pace_yaml_text(entry);
            int column = pace_csv_find(c->tables[t].csv, name);
            double size;
            if (column < 0 || !text || !pace_csv_number(&size, text))
                return pace_fail(PACE_E_INPUT, "%s: near: expected a column and sizes, found \"%.60s\"",
                                 c->tables[t].csv->name, name);
            size_t found = nearest(c, t, column, size);
            if (found < c->fold[t].count) c->fold[t].items[found] = ALWAYS_FITTED;
        }
    return PACE_OK;
}

static bool is_fitted(void *context, size_t table, size_t question) {
    const checker *c = context;
    int fold = c->fold[table].items[question];
    return c->one->from ? fold == c->now : fold != LEFT_OUT && fold != c->now;
}

/* Of rows held out in turn only those of `test_where` are scored. */
static pace_status is_held_out(bool *out, const checker *c, unsigned table, size_t question, size_t row) {
    int fold = c->fold[table].items[question];
    *out = c->one->from ? fold != LEFT_OUT && fold != c->now : fold == c->now;
    if (!*out || !(c->one->each || c->one->from)) return PACE_OK;
    return pace_case_matches(out, c->tables[table].csv, row, c->one->test_where);
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

static pace_status add_score(pace_case_score *out, const checker *c, unsigned t, size_t row, pace_case_row one) {
    if (c->one->orders) PACE_TRY(pace_row_group(&one.group, c->tables[t].csv, row, c->one->orders));
    return pace_case_score_add(out, one);
}

/* An answer's column against a figure of the table: there is no interval. */
static pace_status score_column(pace_case_score *out, const checker *c, unsigned t, size_t row,
                                const pace_row_answer *answer) {
    double measured, predicted = NAN;
    for (size_t i = 0; i < c->kind->column_count; i++)
        if (strcmp(c->kind->columns[i].key, c->one->answer) == 0) predicted = answer->cells[i].number;
    bool known = pace_csv_number(&measured, pace_csv_cell(c->tables[t].csv, row, (size_t)c->measured));
    if (isnan(predicted) || !known || !(measured > 0)) return PACE_OK;
    return add_score(out, c, t, row,
                     (pace_case_row){.predicted = predicted, .measured = measured * c->one->measured_in});
}

static pace_status score_row(pace_case_score *out, const checker *c, unsigned t, const pace_row_question *asked,
                             const pace_row_answer *answer) {
    if (c->measured >= 0) return score_column(out, c, t, asked->row, answer);
    pace_case_row one = {.predicted = answer->time_s.median, .measured = asked->measured_s};
    one.within =
        pace_estimate_low(answer->time_s) <= one.measured && one.measured <= pace_estimate_high(answer->time_s);
    one.unfit = answer->fitting == PACE_TOO_LARGE;
    if (c->one->of_rates) one.predicted = 1 / one.predicted, one.measured = 1 / one.measured;
    return add_score(out, c, t, asked->row, one);
}

static pace_status score_held_out(pace_case_score *out, checker *c) {
    for (unsigned t = 0; t < c->count; t++)
        for (size_t i = 0; i < c->tables[t].questions; i++) {
            pace_row_question asked;
            pace_row_answer answer = {0};
            bool held_out;
            c->kind->question(&asked, c->state, t, i);
            PACE_TRY(is_held_out(&held_out, c, t, i, asked.row));
            if (!held_out) continue;
            c->kind->answer(&answer, c->state, t, i);
            if (!answer.known) continue;
            PACE_TRY(score_row(out, c, t, &asked, &answer));
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
    PACE_TRY(pace_row_kind_open(&c->state, c->kind, &c->options));
    for (unsigned i = 0; i < c->one->file_count; i++) {
        char path[4096];
        PACE_TRY(pace_case_path(path, sizeof path, c->one, folder, i));
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
        if (status == PACE_OK && one->near) status = fit_nearest(&c);
        if (status == PACE_OK) status = run_folds(out, &c);
    }
    pace_row_kind_close(kind, c.state);
    PACE_VEC_FREE(&c.words);
    for (unsigned i = 0; i < PACE_CASE_FILES; i++) PACE_VEC_FREE(&c.fold[i]);
    return status;
}

static pace_status find_groups(pace_case_groups *out, const pace_case *one, const char *folder) {
    for (unsigned i = 0; i < one->file_count; i++) {
        char path[4096];
        PACE_TRY(pace_case_path(path, sizeof path, one, folder, i));
        PACE_TRY(pace_case_groups_add(out, one, path));
    }
    return PACE_OK;
}

/* Each group by itself, on its own machine. */
static pace_status predict_apart(pace_case_score *out, pace_context *context, const pace_case *one,
                                 const pace_row_kind *kind, const char *folder) {
    pace_case_groups groups = {0};
    pace_status status = find_groups(&groups, one, folder);
    for (size_t i = 0; status == PACE_OK && i < groups.items.count; i++) {
        pace_case part = *one;
        part.group = groups.items.items[i];
        if (one->on_by) part.on = pace_case_word_for(one->on_by, part.group);
        status = predict_held_out(out, context, &part, kind, folder);
    }
    pace_case_groups_free(&groups);
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
        PACE_TRY(pace_case_path(path, sizeof path, one, folder, i));
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
        status = one->errors  ? sum_up(&score.score, one, folder)
                 : one->apart ? predict_apart(&score, context, one, kind, folder)
                              : predict_held_out(&score, context, one, kind, folder);
    if (status == PACE_OK && score.score.count == 0 && !one->found)
        status = pace_fail(PACE_E_INPUT, "case %s: no row is held out", one->name);
    return PACE_GIVE(out, score, status, pace_case_score_free(&score));
}
