#include "plan/gradient_hull.h"

/* Whether b lies above the line from a to c. */
static bool is_above(const pace_hull_point *a, const pace_hull_point *b, const pace_hull_point *c) {
    return (b->bytes_left - a->bytes_left) * (c->done - a->done) >
           (c->bytes_left - a->bytes_left) * (b->done - a->done);
}

/* Of a hull with too many points some are left out, evenly. */
static void thin_out(pace_gradient_hull *out, const pace_hull_point *points, size_t count) {
    out->count = count < PACE_HULL_POINTS ? (unsigned)count : PACE_HULL_POINTS;
    for (unsigned i = 0; i < out->count; i++)
        out->points[i] = points[out->count < 2 ? 0 : i * (count - 1) / (out->count - 1)];
}

void pace_gradient_hull_make(pace_gradient_hull *out, pace_hull_point *points, size_t count) {
    size_t kept = count <= PACE_HULL_POINTS ? count : 0;
    for (size_t i = kept; i < count; i++) {
        while (kept > 1 && !is_above(&points[kept - 2], &points[kept - 1], &points[i])) kept--;
        points[kept++] = points[i];
    }
    thin_out(out, points, kept);
}

double pace_gradient_hull_behind_s(const pace_gradient_hull *hull, double exchange_s, double starts_s,
                                   double backward_s) {
    double worst_s = 0;
    for (unsigned i = 0; i < hull->count; i++) {
        const pace_hull_point *point = &hull->points[i];
        double left_s = point->bytes_left * (exchange_s - starts_s) + point->buckets_left * starts_s;
        double behind_s = left_s - (1 - point->done) * backward_s;
        if (behind_s > worst_s) worst_s = behind_s;
    }
    return worst_s;
}
