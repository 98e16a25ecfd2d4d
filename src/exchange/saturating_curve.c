#include "exchange/saturating_curve.h"
#include "cost/simplex.h"

#include <math.h>

typedef struct {
    const pace_curve_point *points;
    size_t from, to; /* fitted, both included */
    double factor;
} fitting;

static double rate(const pace_curve_point *point, double factor) { return point->bytes * factor / point->time_s; }

static double logistic(const double *x, double size) { return x[0] / (1 + exp(-x[2] * (size - x[1]))) + x[3]; }

static double misfit(const double *x, void *context) {
    const fitting *f = context;
    double sum = 0;
    for (size_t i = f->from; i <= f->to; i++) {
        double error = logistic(x, log2(f->points[i].bytes)) - log10(rate(&f->points[i], f->factor));
        sum += error * error;
    }
    return sum;
}

/* The sample before the time first rises by a tenth a step; where it never does, the fifth. */
static size_t rise_of(const pace_curve_point *p, size_t count) {
    enum { FIRST = 5, TENTH = 10 };
    for (size_t i = FIRST; i + 1 < count; i++)
        if (fabs(p[i + 1].time_s - p[i - 1].time_s) / 2 > p[i].time_s / TENTH) return i - 1;
    return FIRST - 1;
}

/* Two samples behind the last that is below 95 % of the best bandwidth. */
static size_t full_of(const pace_curve_point *p, size_t count, double factor, double best) {
    size_t last = 0;
    for (size_t i = 0; i < count; i++)
        if (rate(&p[i], factor) < 0.95 * best) last = i;
    return last + 2 < count ? last + 2 : count - 1;
}

bool pace_saturating_fit(pace_saturating_curve *out, const pace_curve_point *points, size_t count, double factor) {
    double best = 0, least = INFINITY;
    if (count < PACE_SATURATING_LEAST) return false;
    for (size_t i = 0; i < count; i++) {
        if (!(points[i].bytes > 0) || !(points[i].time_s > 0)) return false;
        best = fmax(best, rate(&points[i], factor));
        least = fmin(least, rate(&points[i], factor));
    }
    fitting f = {points, rise_of(points, count), full_of(points, count, factor, best), factor};
    if (f.to <= f.from) f.to = f.from + 1;
    /* height, middle, slope, base: from the least to the best bandwidth around the middle size. */
    double x[4] = {log10(best) - log10(least), log2(points[(f.from + f.to) / 2].bytes), 0.5, log10(least)};
    for (int round = 0; round < 6; round++) pace_simplex(x, 4, round == 0 ? 1 : 0.2, 4000, misfit, &f);
    *out = (pace_saturating_curve){
        points[f.from - 1].time_s, log2(points[f.from].bytes), log2(points[f.to].bytes), x[0], x[1], x[2], x[3], best};
    return true;
}

double pace_saturating_s(const pace_saturating_curve *curve, double bytes, double factor) {
    const double x[4] = {curve->height, curve->middle, curve->slope, curve->base};
    double size = log2(bytes);
    if (size <= curve->from) return curve->floor_s;
    if (size > curve->to) return bytes * factor / curve->full_bytes_per_s + curve->floor_s;
    return bytes * factor / pow(10, logistic(x, size));
}
