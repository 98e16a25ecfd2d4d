#include "exchange/curve_noise.h"
#include "base/estimate.h"
#include "base/normal.h"
#include "base/numbers.h"
#include "base/sort.h"

#include <math.h>

/* A median tells a deviation as well as a third of as many values would by their squares; neighbours share sizes. */
enum { LEAST_REPEATS = 4, LEAST_SIZES = 8, VALUES_PER_FREEDOM = 4 };

/* Neighbours further apart than this, largest over smallest: what lies between is the curve's shape, not noise. */
static const double most_apart = 4.5;

/* Few values tell a deviation badly: 90 % of what is normal lies within Student's t, which is so much further. */
static double few(double freedom) { return pace_student_reach(freedom) / PACE_NORMAL_90; }

/* Of sizes measured more than once, around the mean of each. */
static double of_repeats(const pace_curve_point *points, size_t count) {
    double squares = 0;
    size_t freedom = 0;
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0, of_size = 0;
        for (end = i; end < count && points[end].bytes == points[i].bytes; end++) {
            double x = log(points[end].time_s);
            sum += x, of_size += x * x;
        }
        size_t times = end - i;
        squares += pace_most(of_size - sum * sum / (double)times, 0);
        freedom += times - 1;
    }
    return freedom < LEAST_REPEATS ? 0 : few((double)freedom) * sqrt(squares / (double)freedom);
}

/* How far a size leaves the line through its neighbours, over what noise of 1 would make of it. */
static double off_line(const pace_curve_point *at) {
    double share = (at->bytes - at[-1].bytes) / (at[1].bytes - at[-1].bytes);
    double before = (1 - share) * at[-1].time_s, after = share * at[1].time_s, line = before + after;
    return log(at->time_s / line) / sqrt(1 + (before * before + after * after) / (line * line));
}

/* The median of all, so that a few sizes where the library changes its way do not count. */
static double of_neighbours(size_t *told, const pace_curve_point *points, size_t count) {
    double off[PACE_CURVE_KNOTS];
    size_t found = 0;
    for (size_t i = 1; i + 1 < count && found < PACE_CURVE_KNOTS; i++) {
        const pace_curve_point *at = &points[i];
        if (at[-1].bytes < at->bytes && at->bytes < at[1].bytes && at[1].bytes <= most_apart * at[-1].bytes)
            off[found++] = fabs(off_line(at));
    }
    *told = found < LEAST_SIZES ? 0 : found;
    return *told ? PACE_NORMAL_MAD * pace_median(off, found) : 0;
}

pace_curve_scatter pace_curve_scatter_of(const pace_curve_point *points, size_t count) {
    pace_curve_scatter scatter = {.repeats = of_repeats(points, count)};
    scatter.neighbours = of_neighbours(&scatter.near, points, count);
    return scatter;
}

/* What `a` has beyond `b`: both are deviations. */
static double beyond(double a, double b) { return sqrt(pace_most(a * a - b * b, 0)); }

double pace_curve_noise(const pace_curve_scatter *scatter, const pace_doubts *doubts) {
    if (scatter->repeats > 0) return beyond(scatter->repeats, doubts->figure[PACE_DOUBT_SHAPE_NOISE]);
    if (scatter->near == 0) return 0;
    return few((double)scatter->near / VALUES_PER_FREEDOM) *
           beyond(scatter->neighbours, doubts->figure[PACE_DOUBT_SHAPE_ROUGH]);
}
