/*
 * Learning: series and classes, the base's constants, search trees over the rows that may be seen, boosted trees;
 * first with rows held out, to choose and to score, then with all of them.
 */
#include "cost/learn.h"
#include "base/order.h"
#include "cost/learn_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN, VALIDATE, TEST };

enum { ROUNDS = 900, TENTHS = 10 };

typedef struct {
    const pace_measurement *rows;
    size_t count;
    pace_sample *samples;
    double *times;
    uint32_t *series; /* of each row */
    uint8_t *tenth;   /* of each row, by its group */
    uint8_t *part;    /* TRAIN, VALIDATE or TEST */
    double *errors;   /* ln of predicted over measured of rows held out */
    double *doubts;   /* what their series' spread is multiplied with; 0 = the row was never held out */
    uint32_t *groups; /* of the points, in their order */
    uint32_t *order;  /* rows the boosted trees see: fitted ones, then those that stop them */
    float *features, *targets;
    uint64_t seed;
} learner;

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static bool same_series(const pace_series *s, const pace_measurement *row) {
    return pace_learn_unlike(s, &row->op, row->device->name, row->source) == 0 && strcmp(s->source, row->source) == 0;
}

static bool same_class(const pace_series *a, const pace_series *b) {
    return a->pass == b->pass && a->precision == b->precision && a->element_bytes == b->element_bytes &&
           strcmp(a->kind, b->kind) == 0;
}

static pace_status add_series(uint32_t *out, pace_learned *learned, const pace_measurement *row) {
    pace_series fresh = {.pass = row->op.pass,
                         .precision = row->op.precision,
                         .element_bytes = row->op.element_bytes,
                         .spread = 0.3f};
    pace_sample sample;
    if (pace_sample_of(&sample, &row->op, row->device, NAN)) memcpy(fresh.place, sample.place, sizeof fresh.place);
    memcpy(fresh.device, row->device->name, sizeof fresh.device);
    memcpy(fresh.kind, row->op.kind, sizeof fresh.kind);
    memcpy(fresh.source, row->source, sizeof fresh.source);
    size_t i = 0;
    while (i < learned->series.count && !same_class(&learned->series.items[i], &fresh)) i++;
    if (i < learned->series.count) fresh.class_index = learned->series.items[i].class_index;
    else {
        fresh.class_index = (uint32_t)learned->bases.count;
        PACE_TRY(PACE_PUSH(&learned->bases, (pace_base_time){0}));
    }
    *out = (uint32_t)learned->series.count;
    return PACE_PUSH(&learned->series, fresh);
}

static pace_status find_series(learner *l, pace_learned *learned) {
    uint32_t last = 0;
    for (size_t i = 0; i < l->count; i++) {
        uint32_t at = last;
        if (at >= learned->series.count || !same_series(&learned->series.items[at], &l->rows[i]))
            for (at = 0; at < learned->series.count && !same_series(&learned->series.items[at], &l->rows[i]);) at++;
        if (at == learned->series.count) PACE_TRY(add_series(&at, learned, &l->rows[i]));
        l->series[i] = last = at;
    }
    return PACE_OK;
}

/* The base of each class, from the rows that may be seen. */
static void fit_bases(learner *l, pace_learned *learned, bool all) {
    for (uint32_t c = 0; c < learned->bases.count; c++) {
        size_t picked = 0;
        for (size_t i = 0; i < l->count; i++)
            if (learned->series.items[l->series[i]].class_index == c && (all || l->part[i] == TRAIN))
                l->order[picked++] = (uint32_t)i;
        learned->bases.items[c] = pace_base_time_fit(l->samples, l->times, l->order, picked);
    }
}

static double residual(const learner *l, const pace_learned *learned, size_t row) {
    const pace_series *series = &learned->series.items[l->series[row]];
    return log(l->times[row] / pace_base_time_s(&learned->bases.items[series->class_index], &l->samples[row]));
}

PACE_ORDER(ascending, float, PACE_UP_OF(*))

/* The points of each series, one after the other, and their search trees. */
static pace_status place_points(learner *l, pace_learned *learned, bool all) {
    unsigned axes = pace_sample_axes(learned->family);
    learned->points.count = learned->values.count = 0;
    for (uint32_t s = 0; s < learned->series.count; s++) {
        pace_series *series = &learned->series.items[s];
        series->first = (uint32_t)learned->values.count;
        for (size_t i = 0; i < l->count; i++) {
            if (l->series[i] != s || !(all || l->part[i] == TRAIN)) continue;
            l->groups[learned->values.count] = l->rows[i].group;
            for (int k = 0; k < PACE_NEAREST_AXES; k++) PACE_TRY(PACE_PUSH(&learned->points, l->samples[i].at[k]));
            PACE_TRY(PACE_PUSH(&learned->values, (float)residual(l, learned, i)));
        }
        series->count = (uint32_t)learned->values.count - series->first;
    }
    PACE_ITEMS (pace_series, series, &learned->series) {
        const float *points = learned->points.items + (size_t)series->first * PACE_NEAREST_AXES;
        pace_nearest_free(&series->near);
        pace_learn_bound(series, points);
        PACE_TRY(pace_nearest_build(&series->near, points, l->groups + series->first, series->count, axes));
    }
    return PACE_OK;
}

/* Fitted rows first, then those that stop the trees; returns how many are fitted, *count of all. */
static size_t order_rows(learner *l, bool all, size_t *count) {
    size_t at = 0, fitted;
    for (size_t i = 0; i < l->count; i++)
        if (all || l->part[i] == TRAIN) l->order[at++] = (uint32_t)i;
    fitted = at;
    for (size_t i = 0; i < l->count; i++)
        if (!all && l->part[i] == VALIDATE) l->order[at++] = (uint32_t)i;
    *count = at;
    return fitted;
}

static pace_status fit_near(learner *l, pace_learned *learned, bool all, unsigned rounds) {
    size_t count, fitted = order_rows(l, all, &count);
    unsigned features = 0;
    float row[PACE_LEARN_FEATURES];
    for (size_t i = 0; i < count; i++) {
        uint32_t at = l->order[i];
        double local;
        features = pace_learn_near(row, &local, learned, l->series[at], &l->samples[at], l->rows[at].group);
        memcpy(l->features + i * features, row, features * sizeof *row);
        l->targets[i] = (float)(residual(l, learned, at) - local);
    }
    pace_trees_options options = {.rounds = rounds,
                                  .depth = 7,
                                  .least_rows = 12,
                                  .rate = 0.06,
                                  .row_share = 0.8,
                                  .feature_share = 0.6,
                                  .clip = 0.5,
                                  .seed = l->seed};
    pace_trees_free(&learned->trees);
    learned->trees = (pace_trees){.features = features};
    return pace_trees_fit(&learned->trees, l->features, features, l->targets, fitted, count, &options);
}

/* Standard deviation whose 90 % interval holds 90 % of the errors. */
static float spread_of(float *errors, size_t count) {
    if (count == 0) return 0.3f;
    qsort(errors, count, sizeof *errors, ascending);
    size_t rank = (size_t)ceil(0.9 * (double)(count + 1));
    float spread = errors[rank < count ? rank - 1 : count - 1] / (float)PACE_NORMAL_90;
    return spread > 1e-4f ? spread : 1e-4f;
}

/* The errors of a part that the fit has not seen. */
static void note_errors(learner *l, const pace_learned *learned, uint8_t part) {
    for (size_t i = 0; i < l->count; i++) {
        float features[PACE_LEARN_FEATURES];
        double local;
        if (l->part[i] != part) continue;
        pace_learn_near(features, &local, learned, l->series[i], &l->samples[i], l->rows[i].group);
        l->errors[i] = local + pace_trees_predict(&learned->trees, features) - residual(l, learned, i);
        l->doubts[i] = pace_learn_doubt(features);
    }
}

static bool sets_spreads(const learner *l, size_t row) { return l->part[row] == VALIDATE && l->doubts[row] > 0; }

/* Of each series by its own validation rows where there are enough, else of all of them. */
static void set_spreads(learner *l, pace_learned *learned) {
    enum { ENOUGH = 60 };
    float *all = l->targets, *own = l->features;
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (sets_spreads(l, i)) all[count++] = (float)(fabs(l->errors[i]) / l->doubts[i]);
    float *kept = own + l->count;
    memcpy(kept, all, count * sizeof *all);
    float whole = spread_of(all, count);
    for (uint32_t s = 0; s < learned->series.count; s++) {
        size_t mine = 0, at = 0;
        for (size_t i = 0; i < l->count; i++) {
            if (!sets_spreads(l, i)) continue;
            if (l->series[i] == s) own[mine++] = kept[at];
            at++;
        }
        learned->series.items[s].spread = mine >= ENOUGH ? spread_of(own, mine) : whole;
    }
}

/* One row far off, which a fit of few cannot help, counts as one that is off by a factor of 2. */
static double off_at_most_twice(double log_error) { return fmin(fabs(log_error), M_LN2); }

/* Against what the formula says of the same row. */
static void add_formula(pace_learned_score *sum, const pace_measurement *row, double off) {
    double formula = isnan(row->formula_s) ? INFINITY : log(row->formula_s / row->time_s);
    sum->formula_mape += fabs(expm1(formula));
    sum->gain += off_at_most_twice(formula) - off_at_most_twice(off);
}

/* Adds the rows that are scored to sums: of `gmae` the logarithms. */
static void add_scores(pace_learned_score *sum, const learner *l, const pace_learned *learned) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->part[i] != TEST || !(l->doubts[i] > 0)) continue;
        double off = l->errors[i], relative = expm1(off);
        double spread = l->doubts[i] * (double)learned->series.items[l->series[i]].spread;
        sum->held_out++;
        sum->gmae += log(fabs(relative) + 4e-4); /* the floor of Lin et al. 2022 */
        sum->mape += fabs(relative);
        sum->signed_mean += relative;
        if (fabs(relative) > sum->largest) sum->largest = fabs(relative);
        if (fabs(off) <= PACE_NORMAL_90 * spread) sum->coverage++;
        add_formula(sum, &l->rows[i], off);
    }
}

static pace_learned_score score_of(pace_learned_score sum) {
    double n = (double)(sum.held_out ? sum.held_out : 1);
    sum.gmae = sum.held_out ? exp(sum.gmae / n) : 0;
    sum.mape /= n, sum.signed_mean /= n, sum.coverage /= n, sum.formula_mape /= n, sum.gain /= n;
    return sum;
}

/* Devices that have rows of the class of the row; what is learned by leaving one out needs two others. */
static unsigned devices_of(const pace_learned *learned) {
    unsigned count = 0;
    for (size_t i = 0; i < learned->series.count; i++) {
        size_t k = 0;
        while (k < i && strcmp(learned->series.items[k].device, learned->series.items[i].device) != 0) k++;
        count += k == i;
    }
    return count;
}

/* What the other devices say of a row of the training set. */
typedef struct {
    pace_learn_view views[PACE_LEARN_FAR_VIEWS];
    unsigned count;
    uint32_t series;
    double ln_time;
} far_row;

static double far_error(double *doubt, const far_row *row, const pace_learn_rule *rule) {
    return row->ln_time - pace_learn_blend(doubt, row->views, row->count, rule);
}

static pace_learn_rule rule_of(const pace_learned *learned) {
    return (pace_learn_rule){(double)learned->far_share, (double)learned->far_reach};
}

static double sum_of_errors(const far_row *rows, size_t count, const pace_learn_rule *rule) {
    static const double floor_of_errors = 0.02;
    double sum = 0, doubt;
    for (size_t i = 0; i < count; i++) sum += log(fabs(far_error(&doubt, &rows[i], rule)) + floor_of_errors);
    return sum;
}

/* The rule whose errors are least. */
static void best_rule(pace_learned *learned, const far_row *rows, size_t count) {
    static const float reaches[] = {0.25f, 0.5f, 1, 2, 4, 8}, shares[] = {0, 0.2f, 0.4f, 0.6f, 0.8f, 1};
    enum { REACHES = PACE_COUNT(reaches), SHARES = PACE_COUNT(shares) };
    double least = INFINITY;
    for (int k = 0; k < REACHES * SHARES; k++) {
        float reach = reaches[k / SHARES], share = shares[k % SHARES];
        pace_learn_rule rule = {(double)share, (double)reach};
        double sum = sum_of_errors(rows, count, &rule);
        if (sum < least) least = sum, learned->far_share = share, learned->far_reach = reach;
    }
}

static bool on_device(const pace_learned *learned, const far_row *row, uint32_t series) {
    return strcmp(learned->series.items[row->series].device, learned->series.items[series].device) == 0;
}

/* Each device left out is one draw of how far off another device is: the root mean square over them. */
static float far_spread(learner *l, const pace_learned *learned, const far_row *rows, size_t count) {
    pace_learn_rule rule = rule_of(learned);
    double squares = 0, doubt;
    unsigned devices = 0;
    for (uint32_t s = 0; s < learned->series.count; s++) {
        size_t own = 0;
        uint32_t first = 0;
        while (strcmp(learned->series.items[first].device, learned->series.items[s].device) != 0) first++;
        for (size_t i = 0; first == s && i < count; i++) {
            if (!on_device(learned, &rows[i], s)) continue;
            double error = far_error(&doubt, &rows[i], &rule);
            l->targets[own++] = (float)(fabs(error) / doubt);
        }
        double spread = own ? (double)spread_of(l->targets, own) : 0;
        squares += spread * spread, devices += own > 0;
    }
    return (float)sqrt(squares / devices);
}

/* One device does not say what of its rows' value is its own: half. Another is taken to be as far off the formula as
 * this one is. */
static void far_of_one(learner *l, pace_learned *learned) {
    size_t count = 0;
    PACE_ITEMS (const pace_series, series, &learned->series) {
        double off = learned->bases.items[series->class_index].off;
        for (uint32_t i = 0; i < series->count; i++)
            l->targets[count++] = (float)fabs((double)learned->values.items[series->first + i] + off);
    }
    learned->far_share = 0.5f;
    learned->far_spread = fminf(spread_of(l->targets, count) / (float)PACE_LEARN_LEAST_DOUBT, 99);
}

/* Each row as if its device had none. */
static pace_status fit_far(learner *l, pace_learned *learned) {
    enum { ENOUGH = 8000 };
    size_t count = 0, step = l->count / ENOUGH + 1;
    learned->far_reach = 1;
    far_of_one(l, learned);
    if (devices_of(learned) < 2) return PACE_OK;
    far_row *rows = pace_alloc(l->count / step + 1, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    for (size_t i = 0; i < l->count; i += step) {
        const pace_measurement *m = &l->rows[i];
        far_row *row = &rows[count];
        row->count = pace_learn_far(row->views, learned, &m->op, &l->samples[i], m->device->name, m->source,
                                    m->device->name, m->group);
        row->series = l->series[i];
        row->ln_time = log(l->times[i]);
        count += row->count > 0;
    }
    if (count > 0) {
        best_rule(learned, rows, count);
        learned->far_spread = far_spread(l, learned, rows, count);
    }
    pace_free(rows);
    return PACE_OK;
}

/* Axes count alike, but for one: a size that is sampled densely (few ratios between neighbours) tells kernels apart. */
static void set_scale(pace_learned *learned) {
    for (int i = 0; i < PACE_NEAREST_AXES; i++) learned->scale[i] = 1;
}

static pace_status reserve(learner *l) {
    l->samples = pace_alloc(l->count, sizeof *l->samples);
    l->times = pace_alloc(l->count, sizeof *l->times);
    l->series = pace_alloc(l->count, sizeof *l->series);
    l->tenth = pace_alloc(l->count, 1);
    l->part = pace_alloc(l->count, 1);
    l->errors = pace_alloc(l->count, sizeof *l->errors);
    l->doubts = pace_alloc(l->count, sizeof *l->doubts);
    l->groups = pace_alloc(l->count, sizeof *l->groups);
    l->order = pace_alloc(l->count, sizeof *l->order);
    l->features = pace_alloc(l->count, PACE_LEARN_FEATURES * sizeof *l->features);
    l->targets = pace_alloc(l->count, sizeof *l->targets);
    return l->samples && l->times && l->series && l->tenth && l->part && l->errors && l->doubts && l->groups &&
                   l->order && l->features && l->targets
               ? PACE_OK
               : PACE_E_MEMORY;
}

static void release(learner *l) {
    PACE_FREE(l->samples, l->times, l->series, l->tenth, l->part, l->errors, l->doubts, l->groups, l->order,
              l->features, l->targets);
}

static pace_status prepare(learner *l) {
    for (size_t i = 0; i < l->count; i++) {
        const pace_measurement *row = &l->rows[i];
        if (!pace_sample_of(&l->samples[i], &row->op, row->device, row->formula_s) || !(row->time_s > 0))
            return pace_fail(PACE_E_INTERNAL, "row %zu cannot be learned from", i);
        l->times[i] = row->time_s;
        l->tenth[i] = (uint8_t)(mix(row->group + l->seed * UINT64_C(0x9e3779b97f4a7c15)) % TENTHS);
    }
    return PACE_OK;
}

/* One tenth is scored, the next one stops the trees. False where groups are so few that there is nothing to score, or
 * to learn from. */
static bool hold_out(learner *l, unsigned tenth) {
    size_t rows[TEST + 1] = {0};
    for (size_t i = 0; i < l->count; i++) {
        l->part[i] = l->tenth[i] == tenth ? TEST : l->tenth[i] == (tenth + 1) % TENTHS ? VALIDATE : TRAIN;
        rows[l->part[i]]++;
    }
    return rows[TRAIN] > 0 && rows[TEST] > 0;
}

static pace_status learn_near(pace_learned *learned, learner *l, bool all, unsigned rounds) {
    fit_bases(l, learned, all);
    PACE_TRY(place_points(l, learned, all));
    return fit_near(l, learned, all, rounds);
}

/* Of many rows, whose first tenth is held out, the next one sets the spreads. */
static pace_status score_many(pace_learned_score *sum, unsigned *rounds, pace_learned *learned, learner *l) {
    PACE_TRY(learn_near(learned, l, false, ROUNDS));
    note_errors(l, learned, VALIDATE);
    note_errors(l, learned, TEST);
    set_spreads(l, learned);
    add_scores(sum, l, learned);
    *rounds = (unsigned)learned->trees.roots.count;
    return PACE_OK;
}

/* The rows of a tenth are told apart from all others, which set the spreads. */
static void tell_apart(learner *l, unsigned tenth) {
    for (size_t i = 0; i < l->count; i++) l->part[i] = l->tenth[i] == tenth ? TEST : VALIDATE;
}

/* Of few, each row's error is by a fit without its tenth; it is scored with the spreads that the other tenths set, and
 * all of them set those that are kept. */
static pace_status score_few(pace_learned_score *sum, unsigned *rounds, pace_learned *learned, learner *l) {
    size_t trees = 0, fits = 0;
    for (unsigned tenth = 0; tenth < TENTHS; tenth++) {
        if (!hold_out(l, tenth)) continue;
        PACE_TRY(learn_near(learned, l, false, ROUNDS));
        note_errors(l, learned, TEST);
        trees += learned->trees.roots.count;
        fits++;
    }
    for (unsigned tenth = 0; tenth < TENTHS; tenth++) {
        tell_apart(l, tenth);
        set_spreads(l, learned);
        add_scores(sum, l, learned);
    }
    tell_apart(l, TENTHS);
    set_spreads(l, learned);
    *rounds = fits ? (unsigned)(trees / fits) : 0;
    return PACE_OK;
}

static pace_status learn(pace_learned *learned, pace_learned_score *score, learner *l) {
    pace_learned_score sum = {0};
    unsigned rounds = 0;
    PACE_TRY(prepare(l));
    PACE_TRY(find_series(l, learned));
    set_scale(learned);
    bool few = l->count < PACE_LEARN_FEW || !hold_out(l, 0);
    if (l->count >= PACE_LEARN_LEAST) PACE_TRY((few ? score_few : score_many)(&sum, &rounds, learned, l));
    if (score) *score = score_of(sum);
    PACE_TRY(learn_near(learned, l, true, rounds));
    PACE_TRY(fit_far(l, learned));
    for (size_t i = 0; i < learned->series.count; i++) learned->series.items[i].near.groups = NULL;
    return PACE_OK;
}

pace_status pace_learned_fit(pace_learned *out, pace_learned_score *score, const pace_measurement *rows, size_t count,
                             uint64_t seed) {
    if (count == 0) return pace_fail(PACE_E_INPUT, "no rows to learn from");
    learner l = {.rows = rows, .count = count, .seed = seed};
    pace_learned learned = {.family = rows[0].op.family};
    pace_status status = reserve(&l);
    if (status == PACE_OK) status = learn(&learned, score, &l);
    /* The search trees borrow the points, which move with the vector's owner: they are built anew. */
    release(&l);
    if (status == PACE_OK) status = pace_learned_ready(&learned);
    return PACE_GIVE(out, learned, status, pace_learned_free(&learned));
}
