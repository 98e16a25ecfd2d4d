#include "base/rank_test.h"
#include "base/autocorrelation.h"
#include "base/estimate.h"
#include "base/normal.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_EXACT = 21 * 21 * (20 * 20 + 1), MOST_PAIRS = 1 << 22 };

#define HALF_LEVEL 0.05 /* of the 90 % interval */

typedef struct {
    const int64_t *a, *b;
    size_t n, m;
    double u;    /* pairs in which b is the larger, ties half */
    double ties; /* sum of t^3 - t over groups of equal values */
} samples;

/* ways[u] = arrangements of n and m values with U = u: N(u; n, m) = N(u - m; n - 1, m) + N(u; n, m - 1). */
static pace_status count_ways(double **out, size_t n, size_t m) {
    size_t width = n * m + 1;
    double *table = pace_alloc((n + 1) * (m + 1) * width, sizeof *table);
    if (!table) return PACE_E_MEMORY;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            double *row = table + (i * (m + 1) + j) * width;
            if (i == 0 || j == 0) row[0] = 1;
            else
                for (size_t u = 0; u <= i * j; u++)
                    row[u] = (u >= j ? table[((i - 1) * (m + 1) + j) * width + u - j] : 0) +
                             table[(i * (m + 1) + j - 1) * width + u];
        }
    *out = table;
    return PACE_OK;
}

/* P(U <= u) of two samples of one distribution. */
static double lower_tail(const double *ways, size_t n, size_t m, double u) {
    const double *row = ways + (n * (m + 1) + m) * (n * m + 1);
    double sum = 0, all = 0;
    for (size_t i = 0; i <= n * m; i++) {
        all += row[i];
        if ((double)i <= u) sum += row[i];
    }
    return sum / all;
}

/* How many numbers count_ways() needs. */
static double table_size(size_t n, size_t m) {
    double a = (double)n, b = (double)m;
    return (a + 1) * (b + 1) * (a * b + 1);
}

static double normal_tail(const samples *s, double u) {
    double n = (double)s->n, m = (double)s->m, total = n + m;
    double variance = n * m / 12 * (total + 1 - s->ties / (total * (total - 1)));
    if (variance <= 0) return 1;
    return pace_normal_above(-(u + 0.5 - n * m / 2) / sqrt(variance));
}

static pace_status measure(samples *s) {
    int64_t *all = pace_alloc(s->n + s->m, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t i = 0; i < s->n; i++) all[i] = s->a[i];
    for (size_t j = 0; j < s->m; j++) all[s->n + j] = s->b[j];
    pace_order_ns(all, s->n + s->m);
    for (size_t i = 0, next; i < s->n + s->m; i = next) {
        for (next = i + 1; next < s->n + s->m && all[next] == all[i]; next++) {}
        double t = (double)(next - i);
        s->ties += t * t * t - t;
    }
    pace_free(all);
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->m; j++) s->u += s->b[j] > s->a[i] ? 1 : s->b[j] == s->a[i] ? 0.5 : 0;
    return PACE_OK;
}

typedef struct {
    const samples *s;
    const double *ways; /* NULL = approximate */
    double inflation;   /* of the variance, by values that resemble their neighbours, */
    double freedom;     /* and as how many independent ones they count, less two */
} distribution;

/* Between a normal deviate and Student's t that is exceeded as seldom (Wallace, Annals of Mathematical Statistics
 * 1959). */
static double normal_of(double t, double freedom) {
    return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
}

/* The tail of Student's distribution as far out as `p` of a normal one says, of so many times the variance: how much
 * values resemble their neighbours is known from these values alone. */
static double widened(double p, const distribution *d) {
    if (d->inflation <= 1 || p >= 0.5) return p;
    return pace_normal_above(normal_of(pace_normal_reach(p) / sqrt(d->inflation), d->freedom));
}

static double tail(const distribution *d, double u) {
    return d->ways ? lower_tail(d->ways, d->s->n, d->s->m, u) : normal_tail(d->s, u);
}

static double two_sided(const distribution *d, double u) { return fmin(1, 2 * widened(tail(d, u), d)); }

static pace_status find_interval(pace_rank_test *out, const distribution *d) {
    const samples *s = d->s;
    size_t pairs = s->n * s->m, k = 0;
    double level =
        d->inflation > 1 ? pace_normal_above(pace_student_reach(d->freedom) * sqrt(d->inflation)) : HALF_LEVEL;
    if (tail(d, 0) > level || pairs > MOST_PAIRS) return PACE_OK;
    while (k + 1 < pairs / 2 && tail(d, (double)k + 1) <= level) k++;
    double *ratios = pace_alloc(pairs, sizeof *ratios);
    if (!ratios) return PACE_E_MEMORY;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->m; j++) ratios[i * s->m + j] = (double)s->b[j] / (double)s->a[i];
    qsort(ratios, pairs, sizeof *ratios, pace_ascending);
    out->low = ratios[k];
    out->high = ratios[pairs - 1 - k];
    pace_free(ratios);
    return PACE_OK;
}

pace_status pace_rank_test_of(pace_rank_test *out, const int64_t *a, size_t a_count, const int64_t *b, size_t b_count,
                              double correlation) {
    samples s = {.a = a, .b = b, .n = a_count, .m = b_count};
    pace_rank_test test = {.p = 1, .least_p = 1, .low = NAN, .high = NAN};
    double *ways = NULL;
    if (a_count == 0 || b_count == 0) {
        *out = test;
        return PACE_OK;
    }
    PACE_TRY(measure(&s));
    bool exact = table_size(a_count, b_count) <= MOST_EXACT;
    if (exact) PACE_TRY(count_ways(&ways, a_count, b_count));
    double inflation = pace_difference_inflation(a_count, b_count, correlation);
    double independent = (double)a_count / pace_values_as_one(a_count, correlation) +
                         (double)b_count / pace_values_as_one(b_count, correlation);
    double freedom = fmax(1, independent - 2);
    distribution untied = {&s, ways, inflation, freedom}, d = {&s, s.ties > 0 ? NULL : ways, inflation, freedom};
    double other = (double)(a_count * b_count) - s.u;
    test.p = two_sided(&d, fmin(s.u, other));
    test.least_p = fmin(1, 2 * tail(&untied, 0));
    if (test.p < test.least_p) test.p = test.least_p;
    pace_status status = find_interval(&test, &untied);
    pace_free(ways);
    if (status == PACE_OK) *out = test;
    return status;
}

size_t pace_rank_test_enough(size_t last) {
    double arrangements = 1;
    size_t before = 0;
    while (2 / arrangements > PACE_CHANGE_LEVEL) {
        before++;
        arrangements *= (double)(before + last) / (double)before;
    }
    return before;
}
