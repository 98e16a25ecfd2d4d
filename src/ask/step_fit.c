#include "ask/step_fit.h"

#include "cost/simplex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 8, LEAST = 8, EVALUATIONS = 400, DISTINCT = 30, LOOKED_AT = 240, MODELS_MOST = PACE_HELD_OUT_UNITS };

const char *const pace_step_factor_names[PACE_STEP_FACTORS] = {"matrix", "attention", "stream", "inside", "between",
                                                               "launch", "update",    "hidden", "step"};

/* How far a factor may be from 1: the standard deviation of its logarithm that is expected. Kernels are known better
 * than hosts, and how much an exchange hides least of all. */
static const double expected[PACE_STEP_FACTORS] = {0.2, 0.3, 0.3, 0.4, 0.4, 0.7, 0.4, 0.7, 1.0};

typedef struct {
    pace_step_plan plan;
    pace_step_slots slots;
    const pace_step_row *row;
    double measured_s;
    const char *group;
    unsigned model, unit; /* unit: rows that are held out together */
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
    *one = (sample){.plan = plan, .slots = *plan.slots, .row = row, .measured_s = row->measured_s, .group = row->group};
    one->plan.slots = &one->slots;
    pace_status status = PACE_PUSH(&s->items, one);
    if (status != PACE_OK) pace_free(one);
    return status;
}

/* Rows of one size of model are held out together; with few sizes, those of one way to share it. */
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
        if (models < FOLDS) {
            double mixed = c->tp + 3 * c->pp + 7 * c->micro_batch + 11 * log2(c->dp);
            one->unit = (unsigned)fmod(one->unit + 5 * mixed, MODELS_MOST);
        }
        one->fold = one->unit % FOLDS;
    }
    return models;
}

/* --- the objective ------------------------------------------------------------------------------------------------ */

typedef struct {
    const samples *all;
    unsigned held_out; /* this fold counts not; FOLDS = all count */
    double prior;
    size_t stride; /* every so many-th row is looked at */
} objective;

static pace_step_factors factors_of(const double *x) {
    pace_step_factors factors = pace_step_factors_none();
    double *values = (double *)&factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) values[i] = exp(x[i]);
    return factors;
}

static double log_error(const sample *one, const pace_step_factors *factors) {
    pace_step_factors own = pace_step_row_factors(one->row, factors);
    return log(pace_step_compose(&one->plan, &own).total_s / one->measured_s);
}

/* Cauchy's: squared near 0, logarithmic beyond, so that rows that take two or three times as long as their neighbours
 * hardly pull at all (Huber and Ronchetti 2009, section 4.8: redescending). */
static double loss(double error) {
    const double knee = 0.15;
    return knee / 2 * log1p(error * error / (knee * knee));
}

static double cost_of(const double *x, void *context) {
    const objective *o = context;
    pace_step_factors factors = factors_of(x);
    double sum = 0, penalty = 0, rows = 0;
    for (size_t i = 0; i < o->all->items.count; i += o->stride) {
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

/* From the factors at hand on: strengths are tried from the firmest to the loosest. */
static void learn(pace_step_factors *factors, const samples *all, unsigned held_out, double prior) {
    objective o = {all, held_out, prior, 1 + all->items.count / LOOKED_AT};
    double x[PACE_STEP_FACTORS];
    const double *from = (const double *)factors;
    for (int i = 0; i < PACE_STEP_FACTORS; i++) x[i] = log(from[i]);
    for (int round = 0; round < 2; round++) pace_simplex(x, PACE_STEP_FACTORS, 0.2, EVALUATIONS, cost_of, &o);
    *factors = factors_of(x);
}

/* What is left of each group: the median, drawn towards none where rows are few. */
static pace_status learn_groups(pace_step_fit *fit, const samples *all, unsigned held_out) {
    const double weight = 4; /* rows that say "none" */
    size_t count = all->items.count;
    double *left = pace_alloc(count, sizeof *left);
    if (!left) return PACE_E_MEMORY;
    fit->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = all->items.items[i]->group;
        unsigned g = 0;
        size_t rows = 0;
        while (g < fit->group_count && strcmp(fit->groups[g].name, name) != 0) g++;
        if (g < fit->group_count || g == PACE_STEP_GROUPS_MOST) continue;
        for (size_t k = i; k < count; k++) {
            const sample *one = all->items.items[k];
            if (one->fold != held_out && strcmp(one->group, name) == 0) left[rows++] = -log_error(one, &fit->factors);
        }
        if (rows == 0) continue;
        qsort(left, rows, sizeof *left, ascending);
        double median = (left[(rows - 1) / 2] + left[rows / 2]) / 2, known = (double)rows;
        fit->groups[g] = (pace_step_group){{0}, median * known / (known + weight), known};
        snprintf(fit->groups[g].name, sizeof fit->groups[g].name, "%s", name);
        fit->group_count++;
    }
    pace_free(left);
    return PACE_OK;
}

static double offset_of(const pace_step_fit *fit, const char *group) {
    for (unsigned i = 0; i < fit->group_count; i++)
        if (strcmp(fit->groups[i].name, group) == 0) return fit->groups[i].log_offset;
    return 0;
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* How firmly factors are held to 1. The formula itself is the first candidate, then each strength without and with
 * offsets of groups. */
static const double priors[] = {10, 3, 1, 0.3, 0.1};
enum { PRIORS = sizeof priors / sizeof *priors, CANDIDATES = 1 + 2 * PRIORS };

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

/* errors[candidate * count + row]: each row's when its fold was held out. */
static pace_status held_out_errors(double *errors, const samples *all, double share) {
    size_t count = all->items.count;
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        pace_step_fit fit = {.factors = pace_step_factors_none()};
        for (int c = 0; c < CANDIDATES; c++) {
            bool grouped = c > 0 && c % 2 == 0;
            if (c % 2 == 1) learn(&fit.factors, all, fold, priors[c / 2]);
            fit.group_count = 0;
            if (grouped) PACE_TRY(learn_groups(&fit, all, fold));
            pace_step_fit drawn = fit;
            draw_back(&drawn, share);
            for (size_t i = 0; i < count; i++) {
                const sample *one = all->items.items[i];
                if (one->fold == fold)
                    errors[(size_t)c * count + i] = log_error(one, &drawn.factors) + offset_of(&drawn, one->group);
            }
        }
    }
    return PACE_OK;
}

/* The formula stays unless something beats it by more than chance; what beats it, unless something looser does again.
 */
static pace_status choose(pace_step_fit *fit, pace_step_fit_score *score, const samples *all) {
    size_t count = all->items.count;
    double *errors = pace_alloc(CANDIDATES * count, sizeof *errors), share = share_kept(all);
    unsigned *unit = pace_alloc(count, sizeof *unit);
    pace_status status = errors && unit ? held_out_errors(errors, all, share) : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < count; i++) unit[i] = all->items.items[i]->unit;
    int best = 0;
    for (int c = 1; status == PACE_OK && c < CANDIDATES; c++)
        if (pace_held_out_gain(errors + (size_t)best * count, errors + (size_t)c * count, unit, count) > 0) best = c;
    if (status == PACE_OK)
        status =
            pace_held_out_summarize(&score->error, &fit->spread, errors + (size_t)best * count, count, score->models);
    if (status == PACE_OK) {
        score->error.formula_mape = pace_held_out_mape(errors, count);
        score->prior = best > 0 ? priors[(best - 1) / 2] : INFINITY;
        score->grouped = best > 0 && best % 2 == 0;
        fit->factors = pace_step_factors_none();
        for (int k = 0; k <= (best - 1) / 2 && best > 0; k++) learn(&fit->factors, all, FOLDS, priors[k]);
        if (score->grouped) status = learn_groups(fit, all, FOLDS);
        draw_back(fit, share);
    }
    pace_free(unit);
    pace_free(errors);
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
            else score.left_out++;
        }
    score.error.rows = all.items.count;
    if (status == PACE_OK && score.error.rows < LEAST)
        status = pace_fail(PACE_E_INPUT, "%s: expected at least %d rows with a measured step time, found %zu",
                           count ? tables[0].csv.name : "rows", LEAST, score.error.rows);
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
