#include "plan/plan_settle.h"

#include "base/normal.h"

enum { POINTS = 512 };

double pace_plan_chance(double median_s, double other_s, double spread) {
    return pace_normal_above(-log(other_s / median_s) / (sqrt(2) * spread));
}

/* That all but one of `count` times are above e^at. */
static double all_above(const double *median_s, size_t count, size_t but, double at, double spread) {
    double product = 1;
    for (size_t i = 0; i < count; i++)
        if (i != but) product *= pace_normal_above((at - log(median_s[i])) / spread);
    return product;
}

/* Midpoint rule over the densities of each, from -REACH to REACH spreads. */
void pace_plan_fastest_chances(double *out, const double *median_s, size_t count, double spread) {
    const double reach = 6, step = 2 * reach / POINTS;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = 0;
        for (int k = 0; k < POINTS; k++) {
            double z = -reach + (k + 0.5) * step;
            out[i] += exp(-z * z / 2) * all_above(median_s, count, i, log(median_s[i]) + z * spread, spread);
        }
        sum += out[i];
    }
    for (size_t i = 0; i < count; i++) out[i] /= sum;
}

static double mean_s(double median_s, double spread) { return median_s * exp(spread * spread / 2); }

/* The mean of the least of the timed and `most_s`: the integral of the chance that all timed are above x, from 0 to
 * most_s. */
static double mean_of_least(const double *median_s, size_t timed, double most_s, double spread) {
    const double reach = 6;
    double from_s = most_s, sum = 0;
    for (size_t i = 0; i < timed; i++) from_s = fmin(from_s, median_s[i] * exp(-reach * spread));
    double step = (most_s - from_s) / POINTS;
    for (int k = 0; k < POINTS; k++)
        sum += step * all_above(median_s, timed, timed, log(from_s + (k + 0.5) * step), spread);
    return from_s + sum;
}

double pace_plan_expected_s(const double *median_s, size_t count, size_t timed, double spread) {
    const double reach = 6;
    double rest_s = INFINITY, slowest_s = 0;
    for (size_t i = 0; i < count; i++) slowest_s = fmax(slowest_s, median_s[i]);
    for (size_t i = timed; i < count; i++) rest_s = fmin(rest_s, mean_s(median_s[i], spread));
    if (timed == 0) return rest_s;
    return mean_of_least(median_s, timed, fmin(rest_s, slowest_s * exp(reach * spread)), spread);
}
