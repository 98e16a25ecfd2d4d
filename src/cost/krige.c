#include "cost/krige.h"

#include <math.h>

enum { MOST = PACE_NEAREST_MOST };

/* Cholesky factor of a (count x count, lower part) in place; false when it is not positive definite. */
static bool factor(double a[MOST][MOST], unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (unsigned k = 0; k < j; k++) sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 1e-12)) return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    }
    return true;
}

static void solve(double x[MOST], double a[MOST][MOST], unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < i; k++) x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (unsigned i = count; i-- > 0;) {
        for (unsigned k = i + 1; k < count; k++) x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
    }
}

static double apart(const pace_nearest *tree, uint32_t a, uint32_t b, const double *scale) {
    double sum = 0;
    for (unsigned i = 0; i < tree->axes; i++) {
        double d = scale[i] * ((double)tree->points[(size_t)a * PACE_NEAREST_AXES + i] -
                               (double)tree->points[(size_t)b * PACE_NEAREST_AXES + i]);
        sum += d * d;
    }
    return sqrt(sum);
}

bool pace_krige_at(pace_krige *out, const pace_nearest *tree, const float *values, const float *at, const double *scale,
                   uint32_t but, unsigned most, double reach, double nugget) {
    uint32_t near[MOST];
    double distance[MOST], a[MOST][MOST], weight[MOST], ones[MOST], covariance[MOST];
    unsigned count = pace_nearest_find(near, distance, tree, at, scale, but, most);
    if (count == 0) return false;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < i; j++) a[i][j] = exp(-apart(tree, near[i], near[j], scale) / reach);
        a[i][i] = 1 + nugget;
        covariance[i] = weight[i] = exp(-sqrt(distance[i]) / reach);
        ones[i] = 1;
    }
    if (!factor(a, count)) return false;
    solve(weight, a, count);
    solve(ones, a, count);
    double sum_weight = 0, sum_ones = 0;
    for (unsigned i = 0; i < count; i++) sum_weight += weight[i], sum_ones += ones[i];
    double multiplier = (1 - sum_weight) / sum_ones;
    *out = (pace_krige){0, 1 + multiplier};
    for (unsigned i = 0; i < count; i++) {
        double w = weight[i] + multiplier * ones[i];
        out->value += w * (double)values[near[i]];
        out->variance -= w * covariance[i];
    }
    return isfinite(out->value);
}
