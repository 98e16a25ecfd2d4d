/* The expected slowest of many workers. See variability.h. */
#include "base/estimate.h"
#include "base/normal.h"
#include "base/order.h"
#include "base/random.h"
#include "base/sort.h"
#include "fleet/variability.h"

#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = 200 };

typedef struct {
    double ratio;
    size_t iteration;
} drawn;

typedef struct {
    const pace_iterations *data;
    drawn *draws; /* pace_ascending ratios */
    size_t count;
    uint32_t *weight;  /* of each iteration in a resample */
    double *resampled; /* sizes x RESAMPLES */
    double *row;       /* times of one iteration */
} workspace;

PACE_ORDER(by_ratio, drawn, PACE_UP(ratio))

static double mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum / (double)count;
}

/* Each time over the mean of the others, which owes it nothing. That mean of W - 1 varies by itself: what is left of
 * the differences from 1 is sqrt((W - 1) / W) of them. All are divided by their mean: one alone is not slowed. */
static void draw(workspace *s) {
    double sum = 0;
    for (size_t i = 0; i < s->data->iterations; i++) {
        size_t count = pace_iteration_times(s->row, s->data, i);
        if (count < 2) continue;
        double all = mean(s->row, count) * (double)count, others = (double)(count - 1),
               less = sqrt(others / (double)count);
        for (size_t k = 0; k < count; k++) {
            double ratio = 1 + (s->row[k] * others / (all - s->row[k]) - 1) * less;
            s->draws[s->count++] = (drawn){ratio, i};
            sum += ratio;
        }
    }
    for (size_t k = 0; k < s->count; k++) s->draws[k].ratio *= (double)s->count / sum;
    qsort(s->draws, s->count, sizeof *s->draws, by_ratio);
}

/* sum_i x_i (F_i^N - F_(i-1)^N), each draw weighing what its iteration does. */
static double expected_largest(const workspace *s, size_t workers) {
    double total = 0, seen = 0, below = 0, sum = 0, power = (double)workers;
    for (size_t i = 0; i < s->count; i++) total += s->weight[s->draws[i].iteration];
    for (size_t i = 0; i < s->count; i++) {
        uint32_t weight = s->weight[s->draws[i].iteration];
        if (weight == 0) continue;
        seen += weight;
        double share = workers == 1 ? seen / total : pow(seen / total, power);
        sum += s->draws[i].ratio * (share - below);
        below = share;
    }
    return sum;
}

/* Stretches of about the square root of the iterations, so that a spell stays in one piece (moving blocks, Künsch
 * 1989). */
static size_t stretch_of(const workspace *s) { return (size_t)ceil(sqrt((double)s->data->iterations)); }

/* By how much few stretches vary less among each other than one sample of them from the next. */
static double few_vary_by(const workspace *s) {
    double stretches = (double)s->data->iterations / (double)stretch_of(s), freedom = fmax(stretches - 1, 1);
    return sqrt((freedom + 1) / freedom) * pace_student_reach(freedom) / PACE_NORMAL_90;
}

static void resample(workspace *s, uint64_t *stream) {
    size_t n = s->data->iterations, length = stretch_of(s);
    for (size_t i = 0; i < n; i++) s->weight[i] = 0;
    for (size_t have = 0; have < n;) {
        size_t first = (size_t)(pace_random_uniform(stream) * (double)n);
        for (size_t k = 0; k < length && have < n; k++, have++) s->weight[(first + k) % n]++;
    }
}

/* All subsets of N of an iteration's W times: the k-th smallest is the largest of C(k-1, N-1) of C(W, N). */
static double subset_largest(const double *ascending_times, size_t count, size_t workers) {
    double share = (double)workers / (double)count, sum = 0; /* of the largest of all: C(W-1, N-1) / C(W, N) = N / W */
    for (size_t k = count; k >= workers && k > 0; k--) {
        sum += ascending_times[k - 1] * share;
        if (k > 1) share *= (double)(k - workers) / (double)(k - 1);
    }
    return sum;
}

static double measured(workspace *s, size_t workers) {
    double largest = 0, middle = 0;
    for (size_t i = 0; i < s->data->iterations; i++) {
        size_t count = pace_iteration_times(s->row, s->data, i);
        if (count < s->data->workers || count < workers) continue;
        qsort(s->row, count, sizeof *s->row, pace_ascending);
        largest += subset_largest(s->row, count, workers);
        middle += mean(s->row, count);
    }
    return middle > 0 ? largest / middle : NAN;
}

static void estimate(pace_slowdown *out, const size_t *sizes, size_t count, workspace *s) {
    uint64_t stream = pace_random_stream(1, s->count);
    for (size_t i = 0; i < s->data->iterations; i++) s->weight[i] = 1;
    for (size_t i = 0; i < count; i++)
        out[i] = (pace_slowdown){.workers = sizes[i],
                                 .expected = expected_largest(s, sizes[i]),
                                 .measured = measured(s, sizes[i])};
    for (size_t k = 0; k < RESAMPLES; k++) {
        resample(s, &stream);
        for (size_t i = 0; i < count; i++) s->resampled[i * RESAMPLES + k] = expected_largest(s, sizes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        double *values = s->resampled + i * RESAMPLES;
        qsort(values, RESAMPLES, sizeof *values, pace_ascending);
        double low = out[i].expected - values[RESAMPLES / 20], wider = few_vary_by(s);
        double high = values[RESAMPLES - 1 - RESAMPLES / 20] - out[i].expected;
        out[i].low = fmax(out[i].expected - wider * fmax(low, 0), 1);
        out[i].high = out[i].expected + wider * fmax(high, 0);
    }
}

pace_status pace_slowdown_of(pace_slowdown *out, const size_t *sizes, size_t count, const pace_iterations *data) {
    workspace s = {.data = data};
    pace_status status = PACE_MAKE(s.draws, data->iterations * data->workers) &&
                                 PACE_MAKE(s.weight, data->iterations) && PACE_MAKE(s.resampled, count * RESAMPLES) &&
                                 PACE_MAKE(s.row, data->workers)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) draw(&s);
    if (status == PACE_OK && s.count < 4)
        status =
            pace_fail(PACE_E_INPUT, "expected at least 2 iterations with the times of 2 workers or more, found none");
    if (status == PACE_OK) estimate(out, sizes, count, &s);
    PACE_FREE(s.draws, s.weight, s.resampled, s.row);
    return status;
}
