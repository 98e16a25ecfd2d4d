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
    return (pace_scaling_fit){.compute = 1, .inside = 1, .between = 1, .jitter = -1, .unseen_share = 1};
}

/* 2^-6 to 2^6, a quarter of an octave apart. */
double pace_scaling_ratio(int i) { return exp2((i - PACE_SCALING_RATIOS / 2) / 4.0); }

static double exposed_at(const pace_scaling_sample *s, double ratio) {
    double place = fmin(fmax(4 * log2(ratio) + PACE_SCALING_RATIOS / 2, 0), PACE_SCALING_RATIOS - 1.001);
    int i = (int)place;
    double low = pace_scaling_ratio(i), high = pace_scaling_ratio(i + 1), share = (ratio - low) / (high - low);
    return fmax(0, s->exposed_s[i] + (s->exposed_s[i + 1] - s->exposed_s[i]) * share); /* beyond the ends: as there */
}

/* What a group is of, the first word of its name. */
static const char *const kinds[] = {"model", "device"};
enum { NAME_MOST = 80 };

static void name_group(char out[PACE_FIT_GROUP_NAME], bool of_device, const char *name) {
    snprintf(out, PACE_FIT_GROUP_NAME, "%s %.*s", kinds[of_device], NAME_MOST, name);
}

static bool is_kind(const pace_fit_group *group, bool of_device) {
    return strncmp(group->name, kinds[of_device], strlen(kinds[of_device])) == 0;
}

/* Asked for every row and evaluation: names are compared where they stand. */
static const pace_fit_group *find_group(const pace_fit_group *groups, unsigned count, bool of_device,
                                        const char *name) {
    size_t before = strlen(kinds[of_device]) + 1;
    for (unsigned i = 0; i < count; i++)
        if (is_kind(&groups[i], of_device) && strncmp(groups[i].name + before, name, NAME_MOST) == 0) return &groups[i];
    return NULL;
}

static double offset_of(const pace_scaling_fit *fit, bool of_device, const char *name) {
    const pace_fit_group *group = find_group(fit->groups, fit->group_count, of_device, name);
    return group ? group->log_offset : 0;
}

const char *const pace_scaling_seen_names[PACE_SCALING_SEEN] = {"workers", "batch"};

static bool lacks(const pace_scaling_fit *fit, bool of_device, const char *name) {
    char text[PACE_FIT_GROUP_NAME];
    name_group(text, of_device, name);
    return pace_fit_group_missing(fit->groups, fit->group_count, kinds[of_device], text);
}

const char *pace_scaling_fit_beyond(const pace_scaling_fit *fit, const char *device, const char *model, bool own_known,
                                    double workers, double batch) {
    const double amounts[PACE_SCALING_SEEN] = {workers, batch};
    if (!own_known && lacks(fit, true, device)) return "device";
    if (!own_known && lacks(fit, false, model)) return "model";
    return pace_fit_ranges_beyond(fit->seen, pace_scaling_seen_names, amounts, PACE_SCALING_SEEN);
}

static bool knows(const pace_scaling_fit *fit, bool of_device, const char *name) {
    return find_group(fit->known, fit->known_count, of_device, name) != NULL;
}

/* How much of what was learned holds for a model: of one that was not seen it may be the others' own. A fit that does
 * not say what it saw, or saw more than it can say, is taken at its word. */
static double share_for(const pace_scaling_fit *fit, const char *model) {
    bool says = fit->known_count > 0 && fit->known_count < PACE_FIT_GROUPS_MOST;
    return says && !knows(fit, false, model) ? fit->unseen_share : 1;
}

double pace_scaling_fit_spread(const pace_scaling_fit *fit, const char *device, const char *model) {
    bool says = fit->known_count > 0 && fit->known_count < PACE_FIT_GROUPS_MOST;
    return says && !(knows(fit, false, model) && knows(fit, true, device)) ? fit->unseen_spread : fit->spread;
}

double pace_scaling_fit_compute(const pace_scaling_fit *fit, const char *device, const char *model) {
    double log_factor = log(fit->compute) + offset_of(fit, true, device);
    return exp(share_for(fit, model) * log_factor + offset_of(fit, false, model));
}

double pace_scaling_fit_fixed_s(const pace_scaling_fit *fit, const char *model) {
    return fit->fixed_s * share_for(fit, model);
}

double pace_scaling_fit_step_s(const pace_scaling_fit *fit, const pace_scaling_sample *s) {
    double c = s->own_known ? 1 : pace_scaling_fit_compute(fit, s->device, s->model);
    double exchanges = s->between ? fit->between : fit->inside, jitter = fit->jitter < 0 ? s->skew : fit->jitter;
    return c * (s->own_s * (1 + jitter * s->most) + exposed_at(s, exchanges / c)) +
           (s->own_known ? 0 : pace_scaling_fit_fixed_s(fit, s->model));
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* What is being learned. */
typedef struct {
    const pace_scaling_samples *all;
    pace_factor_samples folds;
    pace_scaling_fit fit;
    double apart; /* how far models, or devices, are apart as long as few are known */
    double most_share;
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
    l->fit.fixed_s = candidate >= FIXED && fabs(x[4]) > 1e-3 ? 0.01 * x[4] * x[4] : 0;
}

static const unsigned dimensions[CANDIDATES] = {0, 1, 3, 4, 5, 5, 5};
/* What is expected of each: the standard deviation of its variable. */
static const double expected[FACTORS] = {0.5, 1, 1, 1, 1};

static const char *text_of(const pace_scaling_sample *s, bool of_device) { return of_device ? s->device : s->model; }

static bool group_name(char out[PACE_FIT_GROUP_NAME], const void *context, size_t i) {
    const learner *l = context;
    const pace_scaling_sample *s = &l->all->items[i];
    name_group(out, l->of_device, text_of(s, l->of_device));
    return !s->own_known;
}

/* Groups of one kind, by what is left behind those that there are. */
static pace_status learn_groups(learner *l, unsigned held_out, bool of_device) {
    l->of_device = of_device;
    return pace_fit_groups_learn(l->fit.groups, &l->fit.group_count, &l->folds, held_out, group_name, log_error, l);
}

/* --- models and devices that were seen ------------------------------------------------------------------------- */

/* ln(measured / formula) of the rows that have what the sample `first` has and are not held out, their mean. */
static pace_fit_group known_of(const learner *l, size_t first, unsigned held_out, bool of_device) {
    const pace_scaling_fit none = pace_scaling_fit_none();
    const pace_scaling_sample *all = l->all->items;
    pace_fit_group group = {.rows = 0};
    name_group(group.name, of_device, text_of(&all[first], of_device));
    for (size_t i = first; i < l->all->count; i++) {
        if (l->folds.fold[i] == held_out) continue;
        if (strcmp(text_of(&all[i], of_device), text_of(&all[first], of_device)) != 0) continue;
        group.log_offset += log(all[i].measured_s / pace_scaling_fit_step_s(&none, &all[i]));
        group.rows++;
    }
    group.log_offset /= group.rows;
    return group;
}

static void learn_known(learner *l, unsigned held_out, bool of_device) {
    for (size_t i = 0; i < l->all->count && l->fit.known_count < PACE_FIT_GROUPS_MOST; i++)
        if (l->folds.fold[i] != held_out && !knows(&l->fit, of_device, text_of(&l->all->items[i], of_device)))
            l->fit.known[l->fit.known_count++] = known_of(l, i, held_out, of_device);
}

/* The posterior mean of a shift that all models share, as a share of what these have in common. A cluster is as far
 * from the formula as its models are from each other: few models, or models that differ, say little of another. */
static double share_of_unseen(const pace_scaling_fit *fit, double apart) {
    double models = 0, mean = 0, squares = apart * apart;
    for (unsigned k = 0; k < fit->known_count; k++)
        if (is_kind(&fit->known[k], false)) mean += fit->known[k].log_offset, models++;
    for (unsigned k = 0; k < fit->known_count; k++)
        if (is_kind(&fit->known[k], false)) squares += pow(fit->known[k].log_offset - mean / models, 2);
    return apart * apart / (apart * apart + squares / models / models);
}

/* The factors, then groups of what they leave, and the factors again with the groups at hand. */
static pace_status learn(void *context, unsigned held_out, unsigned candidate) {
    learner *l = context;
    pace_factors factors = {dimensions[candidate], expected, 0.1, 0.2, 1, set_factors, log_error, l};
    double x[FACTORS] = {0, 0, 0, 0, 0.3};
    l->fit = pace_scaling_fit_none();
    l->candidate = candidate;
    learn_known(l, held_out, false);
    learn_known(l, held_out, true);
    l->fit.unseen_share = fmin(l->most_share, share_of_unseen(&l->fit, l->apart));
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

static size_t units_by_name(unsigned *unit, const pace_scaling_samples *all, bool of_device) {
    size_t units = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t k = 0;
        while (k < i && strcmp(text_of(&all->items[k], of_device), text_of(&all->items[i], of_device)) != 0) k++;
        unit[i] = k < i ? unit[k] : (unsigned)(units++ % UNITS_MOST);
    }
    return units < UNITS_MOST ? units : UNITS_MOST;
}

/* Rows of one batch and number of workers, whatever the model. */
static size_t units_by_row(unsigned *unit, const pace_scaling_samples *all) {
    enum { FOLDS = 8 };
    bool seen[FOLDS] = {false};
    size_t units = 0;
    for (size_t i = 0; i < all->count; i++) {
        double batch = floor(3 * log2(all->items[i].batch)), workers = floor(3 * log2(all->items[i].workers));
        unit[i] = (unsigned)fmod(batch + 5 * workers, FOLDS);
        units += !seen[unit[i]];
        seen[unit[i]] = true;
    }
    return units;
}

static size_t units_of(unsigned *unit, const pace_scaling_samples *all, const char *split) {
    if (strcmp(split, "row") == 0) return units_by_row(unit, all);
    return units_by_name(unit, all, strcmp(split, "device") == 0);
}

static pace_status assign(pace_scaling_score *score, unsigned *unit, const pace_scaling_samples *all,
                          const char *split) {
    if (split && strcmp(split, "model") != 0 && strcmp(split, "device") != 0 && strcmp(split, "row") != 0)
        return pace_fail(PACE_E_USAGE, "split: expected model, device or row for scaling, found \"%.40s\"", split);
    const char *const tried[] = {split ? split : "row", "model", "device"};
    for (size_t i = 0; i < (split ? 1 : PACE_COUNT(tried)) && score->units < 2; i++) {
        score->held_out = tried[i];
        score->units = units_of(unit, all, tried[i]);
    }
    if (score->units < 2)
        return pace_fail(PACE_E_INPUT, "expected rows of two %ss or more to hold one out, found one", score->held_out);
    return PACE_OK;
}

/* --- what was not seen -------------------------------------------------------------------------------------------- */

/* Errors of all rows, each from a fit that did not see its model or device; `none`: where models keep nothing of what
 * the others have in common. */
static pace_status errors_unseen(double *errors, double *none, learner *l) {
    for (unsigned fold = 0; fold < UNITS_MOST; fold++) {
        bool learned = false;
        for (size_t i = 0; i < l->all->count; i++) {
            if (l->folds.fold[i] != fold) continue;
            if (!learned) PACE_TRY(learn(l, fold, l->candidate));
            learned = true;
            double share = l->fit.unseen_share;
            errors[i] = log_error(l, i);
            l->fit.unseen_share = 0;
            none[i] = log_error(l, i);
            l->fit.unseen_share = share;
        }
    }
    return PACE_OK;
}

/* Of models, or devices, that a fit has not seen: how far off it is, and whether what the others have in common is
 * better than nothing. Two that are alike say little of a third. */
static pace_status hold_out_names(pace_held_out *score, double *spread, learner *l, double *errors, size_t units) {
    double *none = errors + l->all->count;
    PACE_TRY(errors_unseen(errors, none, l));
    bool gains = pace_held_out_gain(none, errors, l->folds.unit, l->all->count, false) > 0;
    l->most_share = gains;
    score->rows = l->all->count;
    PACE_TRY(pace_held_out_summarize(score, spread, gains ? errors : none, l->all->count, units));
    *spread = hypot(*spread, l->apart / (double)(units - 1));
    return PACE_OK;
}

/* Leaves the fit as it was learned from all rows. */
static pace_status learn_unseen(learner *l, pace_scaling_score *score, unsigned *unit, double *errors) {
    pace_held_out of_devices = {0};
    double spread = l->fit.spread, of_model = hypot(spread, l->apart), of_device = 0;
    l->folds = (pace_factor_samples){l->all->count, UNITS_MOST, unit, unit};
    size_t devices = units_by_name(unit, l->all, true);
    if (devices > 1) PACE_TRY(hold_out_names(&of_devices, &of_device, l, errors, devices));
    l->most_share = 1;
    size_t models = units_by_name(unit, l->all, false);
    if (models > 1) PACE_TRY(hold_out_names(&score->of_models, &of_model, l, errors, models));
    PACE_TRY(learn(l, UNITS_MOST, l->candidate));
    l->fit.spread = spread;
    l->fit.unseen_spread = fmax(spread, fmax(of_model, of_device));
    return PACE_OK;
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* A set of factors is taken when rows that were held out gain from it by more than chance. */
static pace_status choose(learner *l, pace_scaling_score *score, const unsigned *unit) {
    bool rows = strcmp(score->held_out, "row") == 0;
    double spread;
    l->folds = (pace_factor_samples){l->all->count, UNITS_MOST, unit, unit};
    pace_candidates candidates = {CANDIDATES, false, !rows, learn, log_error, l};
    PACE_TRY(pace_candidates_choose(&l->candidate, &score->error, &spread, &candidates, &l->folds, score->units));
    score->chosen = candidate_names[l->candidate];
    l->fit.spread = rows ? spread : hypot(spread, l->apart / (double)(score->units - 1));
    return PACE_OK;
}

static pace_status learn_all(learner *l, pace_scaling_score *score, const char *split, unsigned *unit, double *errors) {
    PACE_TRY(assign(score, unit, l->all, split));
    PACE_TRY(choose(l, score, unit));
    return learn_unseen(l, score, unit, errors);
}

pace_status pace_scaling_fit_learn(pace_scaling_fit *out, pace_scaling_score *score_out,
                                   const pace_scaling_samples *samples, const char *split, double unlike) {
    pace_scaling_score score = {.error.rows = samples->count};
    learner l = {.all = samples, .apart = unlike, .most_share = 1};
    if (samples->count < LEAST)
        return pace_fail(PACE_E_INPUT, "expected at least %d rows that can be asked and were measured, found %zu",
                         LEAST, samples->count);
    unsigned *unit = pace_alloc(samples->count, sizeof *unit);
    double *errors = pace_alloc(2 * samples->count, sizeof *errors);
    pace_status status = unit && errors ? learn_all(&l, &score, split, unit, errors) : PACE_E_MEMORY;
    PACE_FREE(unit, errors);
    if (status != PACE_OK) return status;
    for (size_t i = 0; i < samples->count; i++) {
        const double amounts[PACE_SCALING_SEEN] = {samples->items[i].workers, samples->items[i].batch};
        pace_fit_ranges_add(l.fit.seen, amounts, PACE_SCALING_SEEN);
    }
    *out = l.fit;
    *score_out = score;
    return PACE_OK;
}
