#include "ask/scaling_fit.h"

#include "base/estimate.h"
#include "cost/simplex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_MOST = PACE_HELD_OUT_UNITS, LEAST = 8, EVALUATIONS = 600, ROUNDS = 2, FACTORS = 5 };

/* Sets of factors, each with all of the one before it. */
enum { FORMULA, COMPUTE, EXCHANGE, JITTER, FIXED, DEVICES, MODELS, CANDIDATES };
static const char *const candidate_names[CANDIDATES] = {"nothing",
                                                        "compute",
                                                        "compute, exchanges",
                                                        "compute, exchanges, jitter",
                                                        "compute, exchanges, jitter, fixed time",
                                                        "the same and a factor for each device",
                                                        "the same and a factor for each model"};

pace_scaling_fit pace_scaling_fit_none(void) {
    return (pace_scaling_fit){.compute = 1, .inside = 1, .between = 1, .jitter = -1};
}

/* 2^-6 to 2^6, a quarter of an octave apart. */
double pace_scaling_ratio(int i) { return exp2((i - PACE_SCALING_RATIOS / 2) / 4.0); }

static double exposed_at(const pace_scaling_sample *s, double ratio) {
    double place = fmin(fmax(4 * log2(ratio) + PACE_SCALING_RATIOS / 2, 0), PACE_SCALING_RATIOS - 1.001);
    int i = (int)place;
    double low = pace_scaling_ratio(i), high = pace_scaling_ratio(i + 1), share = (ratio - low) / (high - low);
    return fmax(0, s->exposed_s[i] + (s->exposed_s[i + 1] - s->exposed_s[i]) * share); /* beyond the ends: as there */
}

static double group_of(const pace_scaling_fit *fit, const char *kind, const char *name) {
    char text[96];
    snprintf(text, sizeof text, "%.8s %.80s", kind, name);
    for (unsigned i = 0; i < fit->group_count; i++)
        if (strcmp(fit->groups[i].name, text) == 0) return fit->groups[i].log_factor;
    return 0;
}

double pace_scaling_fit_compute(const pace_scaling_fit *fit, const char *device, const char *model) {
    return fit->compute * exp(group_of(fit, "device", device) + group_of(fit, "model", model));
}

double pace_scaling_fit_step_s(const pace_scaling_fit *fit, const pace_scaling_sample *s) {
    double c = s->own_known ? 1 : pace_scaling_fit_compute(fit, s->device, s->model);
    double exchanges = s->between ? fit->between : fit->inside, jitter = fit->jitter < 0 ? s->skew : fit->jitter;
    return c * (s->own_s * (1 + jitter * s->most) + exposed_at(s, exchanges / c)) + (s->own_known ? 0 : fit->fixed_s);
}

static double log_error(const pace_scaling_fit *fit, const pace_scaling_sample *s) {
    return log(pace_scaling_fit_step_s(fit, s) / s->measured_s);
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_scaling_samples *all;
    pace_scaling_fit *fit; /* its groups count, its factors are tried */
    unsigned held_out;     /* this unit counts not; UNITS_MOST = all count */
    int candidate;
} objective;

/* Factors of 1 and no fixed time at 0; jitter e^x of the 5 % that the catalogue has. */
static void set_factors(pace_scaling_fit *fit, const double *x, int candidate) {
    fit->compute = candidate >= COMPUTE ? exp(x[0]) : 1;
    fit->inside = candidate >= EXCHANGE ? exp(x[1]) : 1;
    fit->between = candidate >= EXCHANGE ? exp(x[2]) : 1;
    fit->jitter = candidate >= JITTER ? fmin(1, 0.05 * exp(x[3])) : -1;
    fit->fixed_s = candidate >= FIXED ? 0.01 * x[4] * x[4] : 0;
}

static const unsigned dimensions[CANDIDATES] = {0, 1, 3, 4, 5, 5, 5};
/* What is expected of each: the standard deviation of its variable. */
static const double expected[FACTORS] = {0.5, 1, 1, 1, 1};

/* Cauchy's, as of steps (ask/step_fit.c). */
static double loss(double error) {
    const double knee = 0.2;
    return knee / 2 * log1p(error * error / (knee * knee));
}

static double cost_of(const double *x, void *context) {
    const objective *o = context;
    double sum = 0, penalty = 0, rows = 0;
    set_factors(o->fit, x, o->candidate);
    for (size_t i = 0; i < o->all->count; i++) {
        if (o->all->items[i].unit == o->held_out) continue;
        sum += loss(log_error(o->fit, &o->all->items[i]));
        rows++;
    }
    for (unsigned i = 0; i < dimensions[o->candidate]; i++) penalty += x[i] * x[i] / (expected[i] * expected[i]);
    return 30 * sum / rows + 0.1 * penalty; /* neighbours in a sweep say the same thing many times */
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static const char *text_of(const pace_scaling_sample *s, bool of_device) { return of_device ? s->device : s->model; }

/* What is left of one device or model: the median, drawn towards none where rows are few. */
static void learn_group(pace_scaling_fit *fit, const objective *o, size_t first, bool of_device, double *left) {
    const double weight = 4; /* rows that say "none" */
    const char *name = text_of(&o->all->items[first], of_device);
    size_t rows = 0;
    for (size_t k = 0; k < o->all->count; k++) {
        const pace_scaling_sample *s = &o->all->items[k];
        if (s->unit != o->held_out && !s->own_known && strcmp(text_of(s, of_device), name) == 0)
            left[rows++] = -log_error(fit, s);
    }
    if (rows == 0) return;
    qsort(left, rows, sizeof *left, ascending);
    double median = (left[(rows - 1) / 2] + left[rows / 2]) / 2, known = (double)rows;
    pace_scaling_group *group = &fit->groups[fit->group_count++];
    *group = (pace_scaling_group){{0}, median * known / (known + weight), known};
    snprintf(group->name, sizeof group->name, "%.8s %.80s", of_device ? "device" : "model", name);
}

static bool first_of_name(const pace_scaling_samples *all, size_t i, bool of_device) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(text_of(&all->items[k], of_device), text_of(&all->items[i], of_device)) == 0) return false;
    return true;
}

/* Groups of one kind, by what is left behind those that there are. */
static pace_status learn_groups(pace_scaling_fit *fit, const objective *o, bool of_device) {
    double *left = pace_alloc(o->all->count, sizeof *left);
    if (!left) return PACE_E_MEMORY;
    for (size_t i = 0; i < o->all->count && fit->group_count < PACE_SCALING_GROUPS_MOST; i++)
        if (first_of_name(o->all, i, of_device)) learn_group(fit, o, i, of_device, left);
    pace_free(left);
    return PACE_OK;
}

/* The factors, then groups of what they leave, and the factors again with the groups at hand. */
static pace_status learn(pace_scaling_fit *out, const pace_scaling_samples *all, unsigned held_out, int candidate) {
    pace_scaling_fit fit = pace_scaling_fit_none();
    objective o = {all, &fit, held_out, candidate};
    double x[FACTORS] = {0, 0, 0, 0, 0.3};
    for (int round = 0; round < ROUNDS && candidate > FORMULA; round++) {
        pace_simplex(x, dimensions[candidate], 0.3, EVALUATIONS, cost_of, &o);
        pace_simplex(x, dimensions[candidate], 0.1, EVALUATIONS, cost_of, &o);
        set_factors(&fit, x, candidate);
        if (candidate < DEVICES) break;
        fit.group_count = 0;
        PACE_TRY(learn_groups(&fit, &o, true));
        if (candidate >= MODELS) PACE_TRY(learn_groups(&fit, &o, false));
    }
    *out = fit;
    return PACE_OK;
}

/* --- what is held out together ------------------------------------------------------------------------------------ */

static size_t units_by_name(pace_scaling_samples *all, bool of_device) {
    size_t units = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t k = 0;
        while (k < i && strcmp(text_of(&all->items[k], of_device), text_of(&all->items[i], of_device)) != 0) k++;
        all->items[i].unit = k < i ? all->items[k].unit : (unsigned)(units++ % UNITS_MOST);
    }
    return units < UNITS_MOST ? units : UNITS_MOST;
}

/* Rows of one batch and number of workers, whatever the model. */
static size_t units_by_row(pace_scaling_samples *all) {
    enum { FOLDS = 8 };
    bool seen[FOLDS] = {false};
    size_t units = 0;
    for (size_t i = 0; i < all->count; i++) {
        double batch = floor(3 * log2(all->items[i].batch)), workers = floor(3 * log2(all->items[i].workers));
        unsigned unit = (unsigned)fmod(batch + 5 * workers, FOLDS);
        all->items[i].unit = unit;
        units += !seen[unit];
        seen[unit] = true;
    }
    return units;
}

static pace_status assign(pace_scaling_score *score, pace_scaling_samples *all, const char *split) {
    if (split && strcmp(split, "model") != 0 && strcmp(split, "device") != 0 && strcmp(split, "row") != 0)
        return pace_fail(PACE_E_USAGE, "--split: expected model, device or row for scaling, found \"%.40s\"", split);
    score->held_out = split ? split : "model";
    if (strcmp(score->held_out, "model") == 0) score->units = units_by_name(all, false);
    if (!split && score->units < 2) score->held_out = "device";
    if (strcmp(score->held_out, "device") == 0) score->units = units_by_name(all, true);
    if (!split && score->units < 2) score->held_out = "row";
    if (strcmp(score->held_out, "row") == 0) score->units = units_by_row(all);
    if (score->units < 2)
        return pace_fail(PACE_E_INPUT, "expected rows of two %ss or more to hold one out, found one", score->held_out);
    return PACE_OK;
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* errors[row] when its unit was held out. */
static pace_status held_out_errors(double *errors, const pace_scaling_samples *all, int candidate) {
    for (unsigned unit = 0; unit < UNITS_MOST; unit++) {
        pace_scaling_fit fit;
        bool there = false;
        for (size_t i = 0; i < all->count && !there; i++) there = all->items[i].unit == unit;
        if (!there) continue;
        PACE_TRY(learn(&fit, all, unit, candidate));
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].unit == unit) errors[i] = log_error(&fit, &all->items[i]);
    }
    return PACE_OK;
}

/* A set of factors is taken when rows that were held out gain from it by more than chance. */
static pace_status choose(pace_scaling_fit *fit, pace_scaling_score *score, const pace_scaling_samples *all,
                          double *best, double *errors, unsigned *unit) {
    size_t count = all->count;
    int chosen = FORMULA;
    PACE_TRY(held_out_errors(best, all, FORMULA));
    for (size_t i = 0; i < count; i++) unit[i] = all->items[i].unit;
    score->error.formula_mape = pace_held_out_mape(best, count);
    for (int c = COMPUTE; c < CANDIDATES; c++) {
        PACE_TRY(held_out_errors(errors, all, c));
        if (!(pace_held_out_gain(best, errors, unit, count) > 0)) continue;
        memcpy(best, errors, count * sizeof *best);
        chosen = c;
    }
    score->chosen = candidate_names[chosen];
    PACE_TRY(learn(fit, all, UNITS_MOST, chosen));
    return pace_held_out_summarize(&score->error, &fit->spread, best, count, score->units);
}

pace_status pace_scaling_fit_learn(pace_scaling_fit *out, pace_scaling_score *score_out, pace_scaling_samples *samples,
                                   const char *split) {
    pace_scaling_score score = {.error.rows = samples->count};
    pace_scaling_fit fit;
    if (samples->count < LEAST)
        return pace_fail(PACE_E_INPUT, "expected at least %d rows that can be asked and were measured, found %zu",
                         LEAST, samples->count);
    PACE_TRY(assign(&score, samples, split));
    double *best = pace_alloc(samples->count, sizeof *best), *errors = pace_alloc(samples->count, sizeof *errors);
    unsigned *unit = pace_alloc(samples->count, sizeof *unit);
    pace_status status = best && errors && unit ? choose(&fit, &score, samples, best, errors, unit) : PACE_E_MEMORY;
    pace_free(unit);
    pace_free(best);
    pace_free(errors);
    if (status != PACE_OK) return status;
    *out = fit;
    *score_out = score;
    return PACE_OK;
}
