#include "ask/step_rows/step_fit.h"

#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FOLDS = 8,
    LEAST = 3,
    LEAST_MODELS = 3,
    LEAST_OF_MODEL = 3,
    EVALUATIONS = 400,
    LOOKED_AT = 240,
    MODELS_MOST = PACE_HELD_OUT_UNITS
};

const char *const pace_step_factor_names[PACE_STEP_FACTORS] = {"matrix", "attention", "stream", "inside", "between",
                                                               "launch", "update",    "hidden", "step"};

void pace_step_savings(double out[PACE_STEP_FACTORS], const pace_step_plan *plan, pace_step_factors factors) {
    double *values = (double *)&factors, all_s = pace_step_compose(plan, &factors).total_s;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) {
        double value = values[i];
        values[i] = 0;
        out[i] = 1 - pace_step_compose(plan, &factors).total_s / all_s;
        values[i] = value;
    }
}

/* How far a factor may be from 1: the standard deviation of its logarithm that is expected. Kernels are known better
 * than hosts, and how much an exchange hides least of all. */
static const double expected[PACE_STEP_FACTORS] = {0.2, 0.3, 0.3, 0.4, 0.4, 0.7, 0.4, 0.7, 1.0};

typedef struct {
    pace_step_plan plan;
    pace_step_slots slots;
    const pace_step_row *row;
    double measured_s;
    double beside; /* the answer over the closed form without factors */
    char group[PACE_FIT_GROUP_NAME], model_name[PACE_FIT_GROUP_NAME];
    unsigned model, unit; /* unit: rows that are held out together */
    unsigned way;         /* of sharing the work */
    unsigned fold;
} sample;

typedef struct {
    PACE_VEC(sample *) items;
} samples;

static void free_samples(samples *s) {
    for (size_t i = 0; i < s->items.count; i++) pace_free(s->items.items[i]);
    PACE_VEC_FREE(&s->items);
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

static pace_status add_sample(samples *s, const pace_step_row *row, pace_step_pricer *pricer) {
    pace_step_solution solution;
    pace_step_factors none = pace_step_factors_none();
    if (pace_step_row_solve(&solution, pricer, row) != PACE_OK) return PACE_OK; /* the caller says why */
    const pace_step_plan plan = solution.plan;
    sample *one = pace_alloc(1, sizeof *one);
    if (!one) return PACE_E_MEMORY;
    *one = (sample){.plan = plan, .slots = *plan.slots, .row = row, .measured_s = row->measured_s};
    const pace_step_case asked = pace_step_row_case(row);
    pace_step_group_name(one->group, &asked);
    pace_step_model_name(one->model_name, &asked);
    one->beside = solution.time_s.median / pace_step_compose(&plan, &none).total_s;
    one->plan.slots = &one->slots;
    return PACE_KEEP(&s->items, one, pace_free(one));
}

/* Rows of one size of model are held out together; with one or two sizes, those of one way to share it. */
static size_t assign_folds(samples *s, const pace_step_row *const *rows) {
    const pace_model *seen[MODELS_MOST];
    unsigned models = 0;
    for (size_t i = 0; i < s->items.count; i++) {
        unsigned k = 0;
        while (k < models && seen[k] != rows[i]->model) k++;
        if (k == models && models < MODELS_MOST) seen[models++] = rows[i]->model;
        s->items.items[i]->unit = s->items.items[i]->model = k % MODELS_MOST;
    }
    for (size_t i = 0; i < s->items.count; i++) {
        const pace_config *c = &rows[i]->config;
        sample *one = s->items.items[i];
        double mixed = c->tp + 3 * c->pp + 7 * c->micro_batch + 11 * log2(c->dp);
        one->way = (unsigned)fmod(5 * mixed, MODELS_MOST);
        if (models < LEAST_MODELS) one->unit = (one->unit + one->way) % MODELS_MOST;
        one->fold = one->unit % FOLDS;
    }
    return models;
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* What is being learned: the factors, and the share of them that is kept. */
typedef struct {
    const samples *all;
    pace_factor_samples folds;
    pace_step_fit fit, drawn;
    double share;
} learner;

static void set_factors(void *context, const double *x) {
    double *values = (double *)&((learner *)context)->fit.factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) values[i] = exp(x[i]);
}

static double log_error(const sample *one, const pace_step_factors *factors) {
    pace_step_factors own = pace_step_row_factors(one->row, factors);
    return log(one->beside * pace_step_compose(&one->plan, &own).total_s / one->measured_s);
}

/* By the factors that are tried, without groups. */
static double error_tried(const void *context, size_t i) {
    const learner *l = context;
    return log_error(l->all->items.items[i], &l->fit.factors);
}

/* By what is kept. */
static double error_kept(const void *context, size_t i) {
    const learner *l = context;
    const sample *one = l->all->items.items[i];
    return log_error(one, &l->drawn.factors) + pace_fit_group_offset(l->drawn.groups, l->drawn.group_count, one->group);
}

static bool group_name(char out[PACE_FIT_GROUP_NAME], const void *context, size_t i) {
    snprintf(out, PACE_FIT_GROUP_NAME, "%s", ((const learner *)context)->all->items.items[i]->group);
    return true;
}

/* From the factors at hand on: strengths are tried from the firmest to the loosest. */
static void learn_factors(learner *l, unsigned held_out, double prior) {
    size_t stride = 1 + l->all->items.count / LOOKED_AT;
    pace_factors factors = {PACE_STEP_FACTORS, expected, prior, 0.15, stride, set_factors, error_tried, l};
    double x[PACE_STEP_FACTORS];
    const double *from = (const double *)&l->fit.factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) x[i] = log(from[i]);
    for (int round = 0; round < 2; round++) pace_factors_learn(x, &factors, &l->folds, held_out, 0.2, EVALUATIONS);
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* How firmly factors are held to 1. The formula itself is the first candidate, then each strength without and with
 * offsets of groups. */
static const double priors[] = {10, 3, 1, 0.3, 0.1};
enum { PRIORS = PACE_COUNT(priors), CANDIDATES = 1 + 2 * PRIORS };

/* The share of what was learned that is kept. What rows of one model have in common may be that model's alone, so few
 * models, or models that differ, draw factors towards 1: the posterior mean of a shift that all models share. */
static double share_kept(const samples *all) {
    const double shift = 0.15, apart = 0.1; /* standard deviations expected of it, and between models */
    const pace_step_factors none = pace_step_factors_none();
    double sums[MODELS_MOST] = {0}, rows[MODELS_MOST] = {0}, models = 0, mean = 0, squares = apart * apart;
    for (size_t i = 0; i < all->items.count; i++) {
        sums[all->items.items[i]->model] += log_error(all->items.items[i], &none);
        rows[all->items.items[i]->model]++;
    }
    for (int m = 0; m < MODELS_MOST; m++)
        if (rows[m] > 0) mean += sums[m] / rows[m], models++;
    mean /= models;
    for (int m = 0; m < MODELS_MOST; m++)
        if (rows[m] > 0) squares += pow(sums[m] / rows[m] - mean, 2);
    return shift * shift / (shift * shift + squares / models / models);
}

static void draw_back(pace_step_fit *fit, double share) {
    double *factors = (double *)&fit->factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) factors[i] = pow(factors[i], share);
    for (unsigned g = 0; g < fit->group_count; g++) fit->groups[g].log_offset *= share;
}

/* Candidate 0 is the formula, 1, 3, 5, … the strengths, and behind each the same with offsets of groups. */
static pace_status learn(void *context, unsigned held_out, unsigned candidate) {
    learner *l = context;
    if (candidate == 0) l->fit.factors = pace_step_factors_none();
    if (candidate % 2 == 1) learn_factors(l, held_out, priors[candidate / 2]);
    l->fit.group_count = 0;
    if (candidate > 0 && candidate % 2 == 0)
        PACE_TRY(
            pace_fit_groups_learn(l->fit.groups, &l->fit.group_count, &l->folds, held_out, group_name, error_tried, l));
    l->drawn = l->fit;
    draw_back(&l->drawn, l->share);
    return PACE_OK;
}

/* --- models with rows of their own -------------------------------------------------------------------------------- */

/* What is left of a model's rows but those of one way to share the work, drawn towards none as one row says; NAN of
 * fewer than two. `left` has room for all. */
static double left_of_model(double *left, const double *errors, const samples *all, const sample *of, unsigned but) {
    size_t count = 0;
    for (size_t i = 0; i < all->items.count; i++) {
        const sample *one = all->items.items[i];
        if (one->way != but && strcmp(one->model_name, of->model_name) == 0) left[count++] = -errors[i];
    }
    return count > 1 ? pace_median(left, count) * (double)count / (double)(count + 1) : NAN;
}

static bool has_model(const pace_step_fit *fit, const sample *of) {
    return fit->model_count > 0 && !pace_fit_group_missing(fit->models, fit->model_count, "", of->model_name);
}

static void add_models(pace_step_fit *fit, double *left, const double *errors, const samples *all) {
    for (size_t i = 0; i < all->items.count && fit->model_count < PACE_FIT_GROUPS_MOST; i++) {
        const sample *one = all->items.items[i];
        size_t rows = 0;
        for (size_t k = i; k < all->items.count; k++)
            rows += strcmp(all->items.items[k]->model_name, one->model_name) == 0;
        if (has_model(fit, one) || rows < LEAST_OF_MODEL) continue;
        pace_fit_group *model = &fit->models[fit->model_count++];
        snprintf(model->name, sizeof model->name, "%s", one->model_name);
        model->log_offset = left_of_model(left, errors, all, one, MODELS_MOST);
        model->rows = (double)rows;
    }
}

/* Errors of rows whose model has others that share the work in other ways, `a` without and `b` with what these say. */
static size_t model_errors(double *a, double *b, unsigned *way, double *left, const double *errors,
                           const samples *all) {
    size_t count = 0;
    for (size_t i = 0; i < all->items.count; i++) {
        const sample *one = all->items.items[i];
        double offset = left_of_model(left, errors, all, one, one->way);
        if (isnan(offset)) continue;
        a[count] = errors[i];
        b[count] = errors[i] + offset;
        way[count++] = one->way;
    }
    return count;
}

/* A model that is asked again is known better than others: by what is left of its own rows, where rows that were held
 * out surely gain by that. */
static pace_status learn_models(pace_step_fit *fit, pace_held_out *score, const samples *all) {
    size_t count = all->items.count;
    double *errors = pace_alloc(count, sizeof *errors), *left = pace_alloc(3 * count, sizeof *left);
    unsigned *way = pace_alloc(count, sizeof *way);
    pace_status status = errors && left && way ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) {
        const sample *one = all->items.items[i];
        errors[i] = log_error(one, &fit->factors) + pace_fit_group_offset(fit->groups, fit->group_count, one->group);
    }
    if (status == PACE_OK) {
        double *a = left + count, *b = a + count;
        size_t rows = model_errors(a, b, way, left, errors, all);
        if (rows > 0 && pace_held_out_gain(a, b, way, rows, true) > 0) {
            add_models(fit, left, errors, all);
            *score = (pace_held_out){.rows = rows, .formula_mape = pace_held_out_mape(a, rows)};
            status = pace_held_out_summarize(score, &fit->model_spread, b, rows, rows);
        }
    }
    PACE_FREE(errors, left, way);
    return status;
}

static pace_status choose(pace_step_fit *fit, pace_step_fit_score *score, const samples *all, unsigned *fold,
                          unsigned *unit) {
    learner l = {.all = all, .folds = {all->items.count, FOLDS, fold, unit}, .fit = *fit, .share = share_kept(all)};
    pace_candidates candidates = {CANDIDATES, true, true, learn, error_kept, &l};
    unsigned best;
    double spread;
    for (size_t i = 0; i < all->items.count; i++) {
        fold[i] = all->items.items[i]->fold;
        unit[i] = all->items.items[i]->unit;
    }
    PACE_TRY(pace_candidates_choose(&best, &score->error, &spread, &candidates, &l.folds, score->models));
    score->prior = best > 0 ? priors[(best - 1) / 2] : INFINITY;
    *fit = l.drawn;
    fit->spread = spread;
    return learn_models(fit, &score->of_models, all);
}

static void leave_out(pace_left_out *out, const pace_step_rows *table, const pace_step_row *row) {
    const char *why = !row->model              ? row->status
                      : !(row->measured_s > 0) ? (*row->unmeasured ? row->unmeasured : "no step time was measured")
                                               : pace_message_in_answer();
    pace_left_out_add(out, &table->csv, table->csv.name, row->row, why);
}

static pace_status choose_fit(pace_step_fit *fit, pace_step_fit_score *score, const samples *all) {
    unsigned *fold = pace_alloc(all->items.count, sizeof *fold), *unit = pace_alloc(all->items.count, sizeof *unit);
    pace_status status = fold && unit ? choose(fit, score, all, fold, unit) : PACE_E_MEMORY;
    PACE_FREE(fold, unit);
    return status;
}

pace_status pace_step_rows_fit(pace_step_fit *out, pace_step_fit_score *score_out, const pace_step_rows *tables,
                               size_t count, pace_step_pricer *pricer,
                               bool (*keep)(void *context, size_t table, size_t row), void *context) {
    samples all = {{0}};
    PACE_VEC(const pace_step_row *) rows = {0};
    pace_step_fit fit = {.unit_s = 1, .unit = "s"};
    pace_step_fit_score score = {.folds = FOLDS};
    pace_status status = PACE_OK;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; status == PACE_OK && i < tables[t].rows.count; i++) {
            const pace_step_row *row = &tables[t].rows.items[i];
            if (keep && !keep(context, t, i)) continue;
            size_t before = all.items.count;
            if (row->model && row->measured_s > 0) status = add_sample(&all, row, pricer);
            if (status == PACE_OK && all.items.count > before) status = PACE_PUSH(&rows, row);
            else leave_out(&score.left_out, &tables[t], row);
        }
    for (size_t i = 0; i < rows.count; i++) {
        double amounts[PACE_STEP_SEEN];
        pace_step_seen_of(amounts, rows.items[i]->model, &rows.items[i]->config);
        pace_fit_ranges_add(fit.seen, amounts, PACE_STEP_SEEN);
    }
    score.error.rows = all.items.count;
    if (status == PACE_OK && score.error.rows < LEAST)
        status = pace_fail(PACE_E_INPUT, "%s: expected at least %d rows with a measured step time, found %zu",
                           count ? tables[0].csv.name : "rows", LEAST, score.error.rows);
    if (status == PACE_OK) {
        snprintf(fit.unit, sizeof fit.unit, "%s", rows.items[0]->unit);
        fit.unit_s = rows.items[0]->unit_s;
        score.models = assign_folds(&all, rows.items);
        status = choose_fit(&fit, &score, &all);
    }
    free_samples(&all);
    PACE_VEC_FREE(&rows);
    if (status != PACE_OK) return status;
    *out = fit;
    *score_out = score;
    return PACE_OK;
}
