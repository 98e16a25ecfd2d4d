#include "ask/rows/scaling_fit.h"

#include <math.h>
#include <stdio.h>
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
    char text[PACE_FIT_GROUP_NAME];
    snprintf(text, sizeof text, "%.8s %.80s", kind, name);
    return pace_fit_group_offset(fit->groups, fit->group_count, text);
}

const char *const pace_scaling_seen_names[PACE_SCALING_SEEN] = {"workers", "batch"};

static bool lacks(const pace_scaling_fit *fit, const char *kind, const char *name) {
    char text[PACE_FIT_GROUP_NAME];
    snprintf(text, sizeof text, "%.8s %.80s", kind, name);
    return pace_fit_group_missing(fit->groups, fit->group_count, kind, text);
}

const char *pace_scaling_fit_beyond(const pace_scaling_fit *fit, const char *device, const char *model, bool own_known,
                                    double workers, double batch) {
    const double amounts[PACE_SCALING_SEEN] = {workers, batch};
    if (!own_known && lacks(fit, "device", device)) return "device";
    if (!own_known && lacks(fit, "model", model)) return "model";
    return pace_fit_ranges_beyond(fit->seen, pace_scaling_seen_names, amounts, PACE_SCALING_SEEN);
}

double pace_scaling_fit_compute(const pace_scaling_fit *fit, const char *device, const char *model) {
    return fit->compute * exp(group_of(fit, "device", device) + group_of(fit, "model", model));
}

double pace_scaling_fit_step_s(const pace_scaling_fit *fit, const pace_scaling_sample *s) {
    double c = s->own_known ? 1 : pace_scaling_fit_compute(fit, s->device, s->model);
    double exchanges = s->between ? fit->between : fit->inside, jitter = fit->jitter < 0 ? s->skew : fit->jitter;
    return c * (s->own_s * (1 + jitter * s->most) + exposed_at(s, exchanges / c)) + (s->own_known ? 0 : fit->fixed_s);
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* What is being learned. */
typedef struct {
    const pace_scaling_samples *all;
    pace_factor_samples folds;
    pace_scaling_fit fit;
    unsigned candidate;
    bool of_device; /* the groups that are looked at: of devices, or of models */
} learner;

static double log_error(const void *context, size_t i) {
    const learner *l = context;
    return log(pace_scaling_fit_step_s(&l->fit, &l->all->items[i]) / l->all->items[i].measured_s);
}

/* Factors of 1 and no fixed time at 0; jitter e^x of the 5 % that the catalogue has. */
static void set_factors(void *context, const double *x) {
    learner *l = context;
    unsigned candidate = l->candidate;
    l->fit.compute = candidate >= COMPUTE ? exp(x[0]) : 1;
    l->fit.inside = candidate >= EXCHANGE ? exp(x[1]) : 1;
    l->fit.between = candidate >= EXCHANGE ? exp(x[2]) : 1;
    l->fit.jitter = candidate >= JITTER ? fmin(1, 0.05 * exp(x[3])) : -1;
    l->fit.fixed_s = candidate >= FIXED ? 0.01 * x[4] * x[4] : 0;
}

static const unsigned dimensions[CANDIDATES] = {0, 1, 3, 4, 5, 5, 5};
/* What is expected of each: the standard deviation of its variable. */
static const double expected[FACTORS] = {0.5, 1, 1, 1, 1};

static const char *text_of(const pace_scaling_sample *s, bool of_device) { return of_device ? s->device : s->model; }

static bool group_name(char out[PACE_FIT_GROUP_NAME], const void *context, size_t i) {
    const learner *l = context;
    const pace_scaling_sample *s = &l->all->items[i];
    snprintf(out, PACE_FIT_GROUP_NAME, "%.8s %.80s", l->of_device ? "device" : "model", text_of(s, l->of_device));
    return !s->own_known;
}

/* Groups of one kind, by what is left behind those that there are. */
static pace_status learn_groups(learner *l, unsigned held_out, bool of_device) {
    l->of_device = of_device;
    return pace_fit_groups_learn(l->fit.groups, &l->fit.group_count, &l->folds, held_out, group_name, log_error, l);
}

/* The factors, then groups of what they leave, and the factors again with the groups at hand. */
static pace_status learn(void *context, unsigned held_out, unsigned candidate) {
    learner *l = context;
    pace_factors factors = {dimensions[candidate], expected, 0.1, 0.2, 1, set_factors, log_error, l};
    double x[FACTORS] = {0, 0, 0, 0, 0.3};
    l->fit = pace_scaling_fit_none();
    l->candidate = candidate;
    for (int round = 0; round < ROUNDS && candidate > FORMULA; round++) {
        pace_factors_learn(x, &factors, &l->folds, held_out, 0.3, EVALUATIONS);
        pace_factors_learn(x, &factors, &l->folds, held_out, 0.1, EVALUATIONS);
        if (candidate < DEVICES) break;
        l->fit.group_count = 0;
        PACE_TRY(learn_groups(l, held_out, true));
        if (candidate >= MODELS) PACE_TRY(learn_groups(l, held_out, false));
    }
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
        return pace_fail(PACE_E_USAGE, "split: expected model, device or row for scaling, found \"%.40s\"", split);
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

/* A set of factors is taken when rows that were held out gain from it by more than chance. */
static pace_status choose(pace_scaling_fit *fit, pace_scaling_score *score, const pace_scaling_samples *all,
                          unsigned *unit) {
    learner l = {.all = all, .folds = {all->count, UNITS_MOST, unit, unit}};
    pace_candidates candidates = {CANDIDATES, false, false, learn, log_error, &l};
    unsigned best;
    double spread;
    for (size_t i = 0; i < all->count; i++) unit[i] = all->items[i].unit;
    PACE_TRY(pace_candidates_choose(&best, &score->error, &spread, &candidates, &l.folds, score->units));
    score->chosen = candidate_names[best];
    *fit = l.fit;
    fit->spread = spread;
    return PACE_OK;
}

pace_status pace_scaling_fit_learn(pace_scaling_fit *out, pace_scaling_score *score_out, pace_scaling_samples *samples,
                                   const char *split, double unlike) {
    pace_scaling_score score = {.error.rows = samples->count};
    pace_scaling_fit fit;
    if (samples->count < LEAST)
        return pace_fail(PACE_E_INPUT, "expected at least %d rows that can be asked and were measured, found %zu",
                         LEAST, samples->count);
    PACE_TRY(assign(&score, samples, split));
    unsigned *unit = pace_alloc(samples->count, sizeof *unit);
    pace_status status = unit ? choose(&fit, &score, samples, unit) : PACE_E_MEMORY;
    pace_free(unit);
    if (status != PACE_OK) return status;
    bool rows = strcmp(score.held_out, "row") == 0;
    if (!rows)
        fit.spread =
            hypot(fit.spread, unlike / (double)(score.units - 1)); /* two that are alike say little of a third */
    for (size_t i = 0; i < samples->count; i++) {
        const double amounts[PACE_SCALING_SEEN] = {samples->items[i].workers, samples->items[i].batch};
        pace_fit_ranges_add(fit.seen, amounts, PACE_SCALING_SEEN);
    }
    *out = fit;
    *score_out = score;
    return PACE_OK;
}
