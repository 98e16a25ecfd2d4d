#include "live_score.h"

#include "base/median.h"

#include <math.h>
#include <string.h>

void pace_live_find_measured(pace_live_run *run) {
    pace_live_step *s = &run->step;
    double *shares[PACE_LIVE_PARTS] = {&s->measured_forward, &s->measured_backward, &s->measured_exchange,
                                       &s->measured_update};
    double sum = 0;
    pace_median_interval whole = pace_median_interval_of(run->runs, s->runs, 1);
    s->measured_s = whole.median, s->least_s = whole.low, s->most_s = whole.high;
    for (int i = 0; i < PACE_LIVE_PARTS; i++)
        sum += *shares[i] = pace_median_interval_of(run->parts[i], s->runs, 1).median;
    for (int i = 0; i < PACE_LIVE_PARTS; i++) *shares[i] /= sum;
    s->error = s->predicted_s / s->measured_s - 1;
    s->covered = s->low_s <= s->measured_s && s->measured_s <= s->high_s;
    s->status = *run->status ? run->status : NULL;
}

double pace_live_most_off(const pace_live_step *s) {
    return fmax(fmax(fabs(s->predicted_forward - s->measured_forward),
                     fabs(s->predicted_backward - s->measured_backward)),
                fmax(fabs(s->predicted_update - s->measured_update),
                     fabs(s->predicted_exchange - s->measured_exchange)));
}

bool pace_live_counts(const pace_live_step *s) { return s->runs > 0 && isfinite(s->predicted_s) && !s->oversubscribed; }

/* --- what steps are held against each other ----------------------------------------------------------------------- */

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_work(const pace_live_step *a, const pace_live_step *b) {
    return same(a->model, b->model) && a->batch == b->batch && a->ranks == b->ranks;
}

/* Runs of one do not reach into those of the other: of three each that chance does in one case of ten, of two in one of
 * three. */
static bool differ(const pace_live_step *a, const pace_live_step *b) {
    return a->runs > 2 && b->runs > 2 && (a->most_s < b->least_s || b->most_s < a->least_s);
}

typedef struct {
    double sum, most;
    size_t count;
} tally;

static void add(tally *t, double value) { t->sum += value, t->most = fmax(t->most, value), t->count++; }

static double mean(const tally *t) { return t->count ? t->sum / (double)t->count : (double)NAN; }

/* Of each pair of approaches that runs tell apart: whether the prediction tells them apart the same way. */
static void tally_order(tally *orders, const pace_live_step *a, const pace_live_step *b) {
    if (!same_work(a, b) || !same(a->link, b->link) || same(a->approach, b->approach) || !differ(a, b)) return;
    add(orders, (a->predicted_s < b->predicted_s) == (a->measured_s < b->measured_s));
}

/* What another link gains, predicted over measured. */
static void tally_gain(tally *gains, const pace_live_step *a, const pace_live_step *b) {
    if (!same_work(a, b) || !same(a->approach, b->approach) || !a->link || !b->link || same(a->link, b->link)) return;
    double predicted = a->predicted_s / b->predicted_s, measured = a->measured_s / b->measured_s;
    add(gains, fabs(fmax(predicted, 1 / predicted) / fmax(measured, 1 / measured) - 1));
}

static double predicted_rate(const pace_live_step *s) { return (double)s->batch * s->ranks / s->predicted_s; }
static double measured_rate(const pace_live_step *s) { return (double)s->batch * s->ranks / s->measured_s; }

/* Steps of one model that one may choose among beside `a`: what joins the ranks is there, the rest is chosen. */
static bool are_choices(const pace_live_step *a, const pace_live_step *b) {
    return same(a->model, b->model) && (!pace_live_exchanges(b) || same(a->link, b->link));
}

/* One rank alone is a choice on every link, and has none of its own. */
static bool has_own_choice(const pace_live_step *steps, size_t first) {
    const pace_live_step *own = &steps[first];
    bool seen = false;
    for (size_t i = 0; i < first; i++)
        seen |= pace_live_counts(&steps[i]) && pace_live_exchanges(&steps[i]) && same(own->model, steps[i].model) &&
                same(own->link, steps[i].link);
    return pace_live_exchanges(own) && !seen;
}

/* How much slower than the best the step is whose prediction is the best; once for each model and link. */
static void tally_regret(tally *regrets, const pace_live_step *steps, size_t count, size_t first) {
    const pace_live_step *chosen = &steps[first], *best = &steps[first];
    size_t choices = 0;
    if (!has_own_choice(steps, first)) return;
    for (size_t i = 0; i < count; i++) {
        const pace_live_step *s = &steps[i];
        if (!pace_live_counts(s) || !are_choices(&steps[first], s)) continue;
        if (predicted_rate(s) > predicted_rate(chosen)) chosen = s;
        if (measured_rate(s) > measured_rate(best)) best = s;
        choices++;
    }
    if (choices < 2) return;
    add(regrets, measured_rate(best) / measured_rate(chosen) - 1);
    regrets->count += choices - 1; /* it is of so many steps */
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

typedef struct {
    tally one_errors, one_cover, one_shares, ranks_errors, cover, orders, gains, regrets;
} tallies;

/* Ranks that share processors say something where a link takes more than half of the step. */
static bool counts_for_ranks(const pace_live_step *s) {
    return s->runs > 0 && isfinite(s->predicted_s) && pace_live_exchanges(s) &&
           (!s->oversubscribed || (s->link && s->measured_exchange > 0.5));
}

static void tally_step(tallies *t, const pace_live_step *s) {
    if (counts_for_ranks(s)) add(&t->ranks_errors, fabs(s->error));
    if (!pace_live_counts(s)) return;
    add(&t->cover, s->covered);
    if (pace_live_exchanges(s)) return;
    add(&t->one_errors, fabs(s->error));
    add(&t->one_cover, s->covered);
    add(&t->one_shares, pace_live_most_off(s));
}

void pace_live_figures(pace_live_figure out[PACE_LIVE_FIGURES], const pace_live_step *steps, size_t count) {
    tallies t = {0};
    for (size_t i = 0; i < count; i++) {
        tally_step(&t, &steps[i]);
        for (size_t k = 0; k < i; k++)
            if (pace_live_counts(&steps[i]) && pace_live_counts(&steps[k])) {
                tally_order(&t.orders, &steps[i], &steps[k]);
                tally_gain(&t.gains, &steps[i], &steps[k]);
            }
        if (pace_live_counts(&steps[i])) tally_regret(&t.regrets, steps, count, i);
    }
    const pace_live_figure all[PACE_LIVE_FIGURES] = {
        {"one_rank_mape", mean(&t.one_errors), t.one_errors.count},
        {"one_rank_coverage", mean(&t.one_cover), t.one_cover.count},
        {"one_rank_most_share_off", t.one_shares.count ? t.one_shares.most : (double)NAN, t.one_shares.count},
        {"ranks_mape", mean(&t.ranks_errors), t.ranks_errors.count},
        {"coverage", t.cover.count > t.one_cover.count ? mean(&t.cover) : (double)NAN, t.cover.count},
        {"orders_right", mean(&t.orders), t.orders.count},
        {"link_gain_off", mean(&t.gains), t.gains.count},
        {"most_regret", t.regrets.count ? t.regrets.most : (double)NAN, t.regrets.count}};
    memcpy(out, all, sizeof all);
}
