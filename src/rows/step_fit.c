#include "rows/step_fit.h"

#include "cost/simplex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 4, LEAST = 8, EVALUATIONS = 1500, DISTINCT = 30 };

const char *const pace_step_factor_names[PACE_STEP_FACTORS] = {"matrix", "attention", "stream", "inside", "between",
                                                               "launch", "update",    "hidden", "step"};

/* How far a factor may be from 1: the standard deviation of its logarithm that is expected. Kernels are known better
 * than hosts, and how much an exchange hides least of all. */
static const double expected[PACE_STEP_FACTORS] = {0.2, 0.3, 0.3, 0.4, 0.4, 0.7, 0.4, 0.7, 1.0};

typedef struct {
    pace_step_plan plan;
    pace_step_slots slots;
    double measured_s;
    const char *group;
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
    pace_step_plan plan;
    bool recomputed;
    if (pace_step_row_plan(&plan, &recomputed, pricer, row) != PACE_OK) return PACE_OK; /* it has no answer either */
    sample *one = pace_alloc(1, sizeof *one);
    if (!one) return PACE_E_MEMORY;
    *one = (sample){.plan = plan, .slots = *plan.slots, .measured_s = row->measured_s, .group = row->group};
    one->plan.slots = &one->slots;
    pace_status status = PACE_PUSH(&s->items, one);
    if (status != PACE_OK) pace_free(one);
    return status;
}

/* Rows of one size of model are held out together; with few sizes, those of one way to share it. */
static size_t assign_folds(samples *s, const pace_step_row *const *rows) {
    const pace_model *seen[64];
    unsigned models = 0;
    for (size_t i = 0; i < s->items.count; i++) {
        unsigned k = 0;
        while (k < models && seen[k] != rows[i]->model) k++;
        if (k == models && models < 64) seen[models++] = rows[i]->model;
        s->items.items[i]->fold = k;
    }
    for (size_t i = 0; i < s->items.count; i++) {
        const pace_config *c = &rows[i]->config;
        sample *one = s->items.items[i];
        double mixed = one->fold;
        if (models < FOLDS) mixed = c->tp + 3 * c->pp + 7 * c->micro_batch + 11 * log2(c->dp);
        one->fold = (unsigned)fmod(mixed, FOLDS);
    }
    return models;
}

/* --- the objective ------------------------------------------------------------------------------------------------ */

typedef struct {
    const samples *all;
    unsigned held_out; /* this fold counts not; FOLDS = all count */
    double prior;
} objective;

static pace_step_factors factors_of(const double *x) {
    pace_step_factors factors;
    double *values = (double *)&factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) values[i] = exp(x[i]);
    return factors;
}

static double log_error(const sample *one, const pace_step_factors *factors) {
    return log(pace_step_compose(&one->plan, factors).total_s / one->measured_s);
}

/* Between absolute and squared: a few rows of another kind do not pull the rest along (Huber 1964). */
static double loss(double error) {
    const double knee = 0.1;
    double size = fabs(error);
    return size < knee ? error * error / (2 * knee) : size - knee / 2;
}

static double cost_of(const double *x, void *context) {
    const objective *o = context;
    pace_step_factors factors = factors_of(x);
    double sum = 0, penalty = 0, rows = 0;
    for (size_t i = 0; i < o->all->items.count; i++) {
        if (o->all->items.items[i]->fold == o->held_out) continue;
        sum += loss(log_error(o->all->items.items[i], &factors));
        rows++;
    }
    if (rows > DISTINCT) sum *= DISTINCT / rows; /* neighbours in a sweep say the same thing many times */
    for (int i = 0; i < PACE_STEP_FACTORS; i++) penalty += x[i] * x[i] / (expected[i] * expected[i]);
    return sum + o->prior * penalty;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void learn(pace_step_factors *out, const samples *all, unsigned held_out, double prior) {
    objective o = {all, held_out, prior};
    double x[PACE_STEP_FACTORS] = {0};
    for (int round = 0; round < 3; round++) pace_simplex(x, PACE_STEP_FACTORS, 0.3, EVALUATIONS, cost_of, &o);
    *out = factors_of(x);
}

/* The mean of what is left of each group, drawn towards none where rows are few. */
static void learn_groups(pace_step_fit *fit, const samples *all, unsigned held_out) {
    const double weight = 2; /* rows that say "none" */
    fit->group_count = 0;
    for (size_t i = 0; i < all->items.count; i++) {
        const sample *one = all->items.items[i];
        unsigned g = 0;
        if (one->fold == held_out) continue;
        while (g < fit->group_count && strcmp(fit->groups[g].name, one->group) != 0) g++;
        if (g == PACE_STEP_GROUPS_MOST) continue;
        if (g == fit->group_count) {
            fit->groups[g] = (pace_step_group){{0}, 0, 0};
            snprintf(fit->groups[fit->group_count++].name, sizeof fit->groups[g].name, "%s", one->group);
        }
        fit->groups[g].log_offset -= log_error(one, &fit->factors);
        fit->groups[g].rows++;
    }
    for (unsigned g = 0; g < fit->group_count; g++) fit->groups[g].log_offset /= fit->groups[g].rows + weight;
}

static double offset_of(const pace_step_fit *fit, const char *group) {
    for (unsigned i = 0; i < fit->group_count; i++)
        if (strcmp(fit->groups[i].name, group) == 0) return fit->groups[i].log_offset;
    return 0;
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* Every row's error when its fold was held out. */
static void held_out_errors(double *errors, const samples *all, double prior, bool grouped) {
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        pace_step_fit fit = {0};
        learn(&fit.factors, all, fold, prior);
        if (grouped) learn_groups(&fit, all, fold);
        for (size_t i = 0; i < all->items.count; i++) {
            const sample *one = all->items.items[i];
            if (one->fold == fold) errors[i] = log_error(one, &fit.factors) + offset_of(&fit, one->group);
        }
    }
}

static double mean_size(const double *errors, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(errors[i]);
    return sum / (double)count;
}

static void summarize(pace_step_fit_score *score, pace_step_fit *fit, const samples *all, double *errors) {
    size_t count = all->items.count, within = 0;
    double *sizes = pace_alloc(count, sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        double share = exp(errors[i]) - 1;
        score->mape += fabs(share) / (double)count;
        score->signed_mean += share / (double)count;
        if (fabs(share) > fabs(score->largest)) score->largest = share;
        if (sizes) sizes[i] = fabs(errors[i]);
    }
    if (sizes) {
        qsort(sizes, count, sizeof *sizes, ascending);
        fit->spread = sizes[(size_t)(0.9 * (double)(count - 1) + 0.5)] / PACE_NORMAL_90;
    }
    fit->spread *= 1 + 0.5 / sqrt(score->models > 0 ? (double)score->models : 1); /* few models tell little of others */
    if (!(fit->spread > 0.02)) fit->spread = 0.02;
    for (size_t i = 0; i < count; i++) within += fabs(errors[i]) <= PACE_NORMAL_90 * fit->spread;
    score->coverage = (double)within / (double)count;
    pace_free(sizes);
}

static pace_status choose(pace_step_fit *fit, pace_step_fit_score *score, const samples *all) {
    static const double priors[] = {0.1, 1};
    size_t count = all->items.count;
    double *errors = pace_alloc(2 * count, sizeof *errors), *best = errors ? errors + count : NULL, least = INFINITY;
    if (!errors) return PACE_E_MEMORY;
    pace_step_factors none = pace_step_factors_none();
    for (size_t i = 0; i < count; i++)
        score->formula_mape += fabs(exp(log_error(all->items.items[i], &none)) - 1) / (double)count;
    for (size_t p = 0; p < sizeof priors / sizeof *priors; p++)
        for (int grouped = 0; grouped < 2; grouped++) {
            held_out_errors(errors, all, priors[p], grouped);
            double size = mean_size(errors, count);
            if (!(size < least)) continue;
            least = size;
            score->prior = priors[p];
            score->grouped = grouped;
            memcpy(best, errors, count * sizeof *errors);
        }
    summarize(score, fit, all, best);
    learn(&fit->factors, all, FOLDS, score->prior);
    if (score->grouped) learn_groups(fit, all, FOLDS);
    pace_free(errors);
    return PACE_OK;
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
            else score.left_out++;
        }
    score.rows = all.items.count;
    if (status == PACE_OK && score.rows < LEAST)
        status = pace_fail(PACE_E_INPUT, "%s: expected at least %d rows with a measured step time, found %zu",
                           count ? tables[0].csv.name : "rows", LEAST, score.rows);
    if (status == PACE_OK) {
        snprintf(fit.unit, sizeof fit.unit, "%s", rows.items[0]->unit);
        fit.unit_s = rows.items[0]->unit_s;
        score.models = assign_folds(&all, rows.items);
        status = choose(&fit, &score, &all);
    }
    free_samples(&all);
    PACE_VEC_FREE(&rows);
    if (status != PACE_OK) return status;
    *out = fit;
    *score_out = score;
    return PACE_OK;
}
