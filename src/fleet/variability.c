#include "fleet/variability.h"

#include "base/estimate.h"
#include "base/order.h"
#include "base/random.h"
#include "base/rank_test.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* A spell begins above DRIFT sigmas and counts from REACH sigmas in sum, of independent normal noise. */
static const double DRIFT = 3, REACH = 10;
enum { MOST_STRETCHES = 16, MOST_SHUFFLES = 199, LEAST_SHUFFLES = 19, MOST_VALUES = 20000000 };

/* Room for one value per worker and per iteration, and the ratios. */
typedef struct {
    const pace_iterations *data;
    double *ratio; /* r, as data->times; NAN where there is none */
    double *some;  /* as many as there are times */
    size_t compared;
} workspace;

size_t pace_iteration_times(double *out, const pace_iterations *data, size_t iteration) {
    size_t count = 0;
    for (size_t w = 0; w < data->workers; w++) {
        double time = data->times[iteration * data->workers + w];
        if (time > 0) out[count++] = time;
    }
    return count;
}

static void compare(workspace *s) {
    const pace_iterations *data = s->data;
    for (size_t i = 0; i < data->iterations; i++) {
        size_t count = pace_iteration_times(s->some, data, i);
        double middle = pace_median(s->some, count);
        s->compared += count >= 2;
        for (size_t w = 0; w < data->workers; w++) {
            double time = data->times[i * data->workers + w];
            s->ratio[i * data->workers + w] = time > 0 && count >= 2 ? log(time / middle) : NAN;
        }
    }
}

static void find_usual(pace_variability *v, workspace *s) {
    const pace_iterations *data = s->data;
    double sum = 0;
    size_t all = 0;
    for (size_t w = 0; w < data->workers; w++) {
        pace_worker_pace *worker = &v->workers[w];
        size_t count = 0;
        double own = 0;
        for (size_t i = 0; i < data->iterations; i++) {
            double time = data->times[i * data->workers + w], ratio = s->ratio[i * data->workers + w];
            if (time > 0) own += time, worker->iterations++;
            if (!isnan(ratio)) s->some[count++] = ratio;
        }
        worker->mean = worker->iterations ? own / (double)worker->iterations : NAN;
        worker->usual = pace_median(s->some, count); /* a logarithm until the end */
        sum += own;
        all += worker->iterations;
    }
    v->mean = sum / (double)all;
}

static void find_sigma(pace_variability *v, workspace *s) {
    size_t count = 0;
    for (size_t i = 0; i < s->data->iterations; i++)
        for (size_t w = 0; w < s->data->workers; w++) {
            double ratio = s->ratio[i * s->data->workers + w];
            if (!isnan(ratio)) s->some[count++] = fabs(ratio - v->workers[w].usual);
        }
    v->sigma = PACE_NORMAL_MAD * pace_median(s->some, count);
}

/* The variance of the medians of a worker's stretches of iterations: times near each other may be alike, which an error
 * from single times would miss. NAN: there are too few. */
static double stretch_variance(const workspace *s, size_t worker, size_t stretches) {
    double sum = 0, squares = 0;
    size_t found = 0, iterations = s->data->iterations;
    for (size_t b = 0; b < stretches; b++) {
        size_t count = 0;
        for (size_t i = b * iterations / stretches; i < (b + 1) * iterations / stretches; i++) {
            double ratio = s->ratio[i * s->data->workers + worker];
            if (!isnan(ratio)) s->some[count++] = ratio;
        }
        if (count == 0) continue;
        double middle = pace_median(s->some, count);
        sum += middle;
        squares += middle * middle;
        found++;
    }
    return found < 2 ? (double)NAN : (squares - sum * sum / (double)found) / ((double)found * (double)(found - 1));
}

static double residual(const pace_variability *v, const workspace *s, size_t iteration, size_t worker) {
    double far = (s->ratio[iteration * s->data->workers + worker] - v->workers[worker].usual) / v->sigma;
    return far > DRIFT ? DRIFT : far < -DRIFT ? -DRIFT : far; /* one spell is no habit */
}

/* How much a time is like the one before, of all workers: from 0 to nearly 1. A few iterations show less than there is:
 * by (1 + 3 r) / n (Kendall, Biometrika 1954). */
static double likeness(const pace_variability *v, const workspace *s) {
    double both = 0, own = 0, n = (double)s->compared;
    for (size_t i = 1; i < s->data->iterations; i++)
        for (size_t w = 0; w < s->data->workers; w++) {
            double now = residual(v, s, i, w), before = residual(v, s, i - 1, w);
            if (!isnan(now) && !isnan(before)) both += now * before, own += (now * now + before * before) / 2;
        }
    double found = own > 0 ? both / own : 0;
    return fmin(fmax((found * n + 1) / (n - 3), 0), 0.95);
}

/* The larger of what stretches and single times say, over all workers. The median of n independent normal times is off
 * by sqrt(pi / 2 n) of one; of times that are like the ones before by as if they were fewer. */
static void find_usual_error(pace_variability *v, const workspace *s) {
    size_t stretches = s->data->iterations / 4 < MOST_STRETCHES ? s->data->iterations / 4 : MOST_STRETCHES, count = 0;
    double sum = 0, of_times = sqrt(acos(-1) / 2 / (double)s->compared) * v->sigma;
    for (size_t w = 0; w < s->data->workers; w++) {
        double variance = stretch_variance(s, w, stretches);
        if (!isnan(variance)) sum += variance, count++;
    }
    if (v->sigma > 0 && s->compared > 3) {
        v->like = likeness(v, s);
        of_times *= sqrt((1 + v->like) / (1 - v->like));
    }
    v->usual_error = fmax(of_times, count ? sqrt(sum / (double)count) : 0);
}

double pace_iteration_delay(size_t *slowest, const pace_iterations *data, size_t iteration) {
    double most = -1, next = -1;
    for (size_t w = 0; w < data->workers; w++) {
        double time = data->times[iteration * data->workers + w];
        if (time > most) next = most, most = time, *slowest = w;
        else if (time > next) next = time;
    }
    return next > 0 ? most - next : 0;
}

static void find_lost(pace_variability *v, const pace_iterations *data) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < data->iterations; i++) {
        size_t slowest = data->workers;
        double lost = pace_iteration_delay(&slowest, data, i);
        if (slowest == data->workers) continue;
        v->workers[slowest].lost += lost;
        sum += data->times[i * data->workers + slowest];
        count++;
    }
    v->step = sum / (double)count;
}

/* Above DRIFT, in sigmas. */
static double excess_of(const pace_variability *v, const workspace *s, size_t iteration, size_t worker) {
    double ratio = s->ratio[iteration * s->data->workers + worker];
    return (ratio - v->workers[worker].usual) / v->sigma - DRIFT;
}

/* The largest sum of excesses that `count` of them reach in a random order, cut into series of `length`. */
static double largest_sum(double *excesses, size_t count, size_t length, uint64_t *stream) {
    double sum = 0, largest = 0;
    for (size_t i = count; i-- > 0;) {
        size_t other = (size_t)(pace_random_uniform(stream) * (double)(i + 1));
        double drawn = excesses[other];
        excesses[other] = excesses[i];
        excesses[i] = drawn;
        sum = fmax(i % length == length - 1 ? 0 : sum, 0) + drawn;
        largest = fmax(largest, sum);
    }
    return largest;
}

/* What sums of excesses reach by chance in one job of twenty, had each time come anywhere else: slow iterations that
 * come one by one, to whichever worker, are no spells. */
static double reach_by_chance(const pace_variability *v, const workspace *s) {
    double largest[MOST_SHUFFLES];
    size_t count = 0, times = s->data->iterations * s->data->workers, shuffles = MOST_VALUES / times;
    for (size_t i = 0; i < s->data->iterations; i++)
        for (size_t w = 0; w < s->data->workers; w++) {
            double excess = excess_of(v, s, i, w);
            if (!isnan(excess)) s->some[count++] = excess;
        }
    if (shuffles > MOST_SHUFFLES) shuffles = MOST_SHUFFLES;
    if (shuffles < LEAST_SHUFFLES) shuffles = LEAST_SHUFFLES;
    uint64_t stream = pace_random_stream(s->data->iterations, s->data->workers);
    for (size_t k = 0; k < shuffles; k++) largest[k] = largest_sum(s->some, count, s->data->iterations, &stream);
    qsort(largest, shuffles, sizeof *largest, pace_ascending);
    size_t as_large = (size_t)(PACE_CHANGE_LEVEL * (double)(shuffles + 1));
    return fmax(REACH * (1 + v->like) / (1 - v->like), largest[shuffles - as_large]);
}

static pace_status add_spell(pace_variability *v, const workspace *s, size_t worker, size_t first, size_t last) {
    const pace_iterations *data = s->data;
    pace_slow_spell spell = {.worker = worker, .first = first, .last = last};
    double sum = 0, worst = 0;
    size_t count = 0;
    for (size_t i = first; i <= last; i++) {
        double ratio = s->ratio[i * data->workers + worker] - v->workers[worker].usual;
        size_t slowest = data->workers;
        double lost = pace_iteration_delay(&slowest, data, i);
        if (slowest == worker) spell.lost += lost;
        if (isnan(ratio)) continue;
        sum += ratio;
        count++;
        if (ratio > worst) worst = ratio;
    }
    spell.slowdown = exp(sum / (double)count);
    spell.worst = exp(worst);
    return PACE_PUSH(&v->spells, spell);
}

static pace_status find_spells_of(pace_variability *v, const workspace *s, size_t worker, double reach) {
    const pace_iterations *data = s->data;
    double sum = 0, best = 0;
    size_t first = 0, last = 0;
    for (size_t i = 0; i <= data->iterations; i++) {
        double excess = i < data->iterations ? excess_of(v, s, i, worker) : -INFINITY;
        if (isnan(excess)) continue;
        if (sum <= 0) first = i, sum = best = 0;
        sum += excess;
        if (sum > best) best = sum, last = i;
        if (sum <= 0 && best > reach) PACE_TRY(add_spell(v, s, worker, first, last));
        if (sum <= 0) best = 0;
    }
    return PACE_OK;
}

PACE_ORDER(most_lost_first, pace_slow_spell, PACE_DOWN(lost) PACE_UP(worker) PACE_UP(first))

static void find_shares(pace_variability *v, const pace_iterations *data) {
    v->time = v->step * (double)data->iterations;
    for (size_t w = 0; w < data->workers; w++) v->workers[w].lost_share = v->workers[w].lost / v->time;
    PACE_ITEMS (pace_slow_spell, spell, &v->spells) {
        spell->lost_share = spell->lost / v->time;
        spell->begins_share = (double)spell->first / (double)data->iterations;
    }
}

static pace_status find_all(pace_variability *v, workspace *s) {
    const pace_iterations *data = s->data;
    compare(s);
    if (s->compared < 2)
        return pace_fail(PACE_E_INPUT, "expected at least 2 iterations with the times of 2 workers or more, found %zu",
                         s->compared);
    find_usual(v, s);
    find_sigma(v, s);
    find_usual_error(v, s);
    find_lost(v, data);
    double reach = v->sigma > 0 ? reach_by_chance(v, s) : INFINITY;
    for (size_t w = 0; v->sigma > 0 && w < data->workers; w++)
        if (!isnan(v->workers[w].usual)) PACE_TRY(find_spells_of(v, s, w, reach));
    PACE_SORT(&v->spells, most_lost_first);
    find_shares(v, data);
    for (size_t w = 0; w < data->workers; w++) v->workers[w].usual = exp(v->workers[w].usual);
    return PACE_OK;
}

pace_status pace_variability_of(pace_variability *out, const pace_iterations *data) {
    pace_variability v = {.workers = pace_alloc(data->workers, sizeof *v.workers)};
    workspace s = {.data = data};
    pace_status status = v.workers && PACE_MAKE(s.ratio, data->iterations * data->workers) &&
                                 PACE_MAKE(s.some, data->iterations * data->workers)
                             ? find_all(&v, &s)
                             : PACE_E_MEMORY;
    PACE_FREE(s.ratio, s.some);
    return PACE_GIVE(out, v, status, pace_variability_free(&v));
}

void pace_variability_free(pace_variability *variability) {
    pace_free(variability->workers);
    PACE_VEC_FREE(&variability->spells);
    *variability = (pace_variability){0};
}
