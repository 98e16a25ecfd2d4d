#include "exchange/calibration.h"
#include "base/numbers.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

/* All of these were chosen on the NCCL 2.27 curves of one A100 node (docs/exchange.md) and on nothing else. */
static const double probe_from_bytes = 32768, probe_to_bytes = 33554432; /* where protocols change */

double pace_curve_time(const pace_curve_point *points, size_t count, double bytes) {
    if (bytes <= points[0].bytes || count < 2) return points[0].time_s;
    size_t low = 0, high = count - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (points[middle].bytes <= bytes) low = middle;
        else high = middle;
    }
    const pace_curve_point *a = &points[low], *b = &points[high];
    double slope = (b->time_s - a->time_s) / (b->bytes - a->bytes);
    /* Noise may make the last region fall: beyond it the mean rate holds. */
    if (bytes > b->bytes && slope <= 0) return b->time_s * bytes / b->bytes;
    return a->time_s + slope * (bytes - a->bytes);
}

PACE_ORDER(by_size, pace_curve_point, PACE_UP(bytes) PACE_UP(time_s))

static size_t nearest(const pace_curve_point *points, size_t count, double bytes) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (fabs(log(points[i].bytes / bytes)) < fabs(log(points[best].bytes / bytes))) best = i;
    return best;
}

static double between(double from, double to, size_t step, size_t steps) {
    return from * pow(to / from, (double)step / (double)steps);
}

size_t pace_curve_probes(size_t *chosen, const pace_curve_point *points, size_t count, size_t wanted) {
    double low = points[0].bytes, high = points[count - 1].bytes;
    double from = probe_from_bytes / (wanted > 7 ? 2 : 1), to = probe_to_bytes * (wanted > 7 ? 2 : 1);
    size_t found = 0;
    if (low < 1) low = 1;
    if (wanted == 1) {
        bool middle = low < from && high > to;
        chosen[0] = nearest(points, count, middle ? between(from, to, 1, 2) : between(low, high, 1, 2));
        return 1;
    }
    if (wanted >= count || wanted < 4) wanted = pace_least((double)wanted, (double)count) < 2 ? 2 : wanted;
    for (size_t i = 0; i < wanted; i++) {
        double bytes = between(low, high, i, wanted - 1);
        if (low < from / 2 && high > to && wanted > 3)
            bytes = i == 0 ? low : i == wanted - 1 ? high : between(from, to, i - 1, wanted - 3);
        size_t at = nearest(points, count, bytes);
        if (found == 0 || chosen[found - 1] != at) chosen[found++] = at;
    }
    return found;
}

size_t pace_curve_tidy(pace_curve_point *points, size_t count) {
    size_t left = 0;
    qsort(points, count, sizeof *points, by_size);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && points[end].bytes == points[i].bytes) end++;
        double upper = points[(i + end) / 2].time_s, lower = points[(i + end - 1) / 2].time_s;
        points[left++] = (pace_curve_point){points[i].bytes, (upper + lower) / 2};
        i = end;
    }
    return left;
}

static size_t thin(pace_curve_point *points, size_t count) {
    size_t chosen[PACE_CURVE_KNOTS], left = 0, last = count;
    if (count <= PACE_CURVE_KNOTS) return count;
    for (size_t i = 0; i < PACE_CURVE_KNOTS; i++) {
        double low = pace_most(points[0].bytes, 1);
        size_t at = nearest(points, count, between(low, points[count - 1].bytes, i, PACE_CURVE_KNOTS - 1));
        if (at != last) chosen[left++] = at;
        last = at;
    }
    for (size_t i = 0; i < left; i++) points[i] = points[chosen[i]];
    return left;
}

void pace_exchange_fit_free(pace_exchange_fit *fit) { PACE_VEC_FREE(&fit->curves, &fit->points); }

pace_status pace_exchange_fit_add(pace_exchange_fit *fit, const pace_exchange_curve *key, pace_curve_point *points,
                                  size_t count) {
    pace_exchange_curve curve = *key;
    for (size_t i = 0; i < count; i++)
        if (!(points[i].time_s > 0) || !(points[i].bytes >= 0) || !isfinite(points[i].time_s + points[i].bytes))
            return pace_fail(PACE_E_INPUT,
                             "%s: expected a time above 0 and a size of 0 or more, found %g s at %g bytes", key->system,
                             points[i].time_s, points[i].bytes);
    if (count > 0) qsort(points, count, sizeof *points, by_size);
    pace_curve_scatter scatter = pace_curve_scatter_of(points, count);
    if (scatter.repeats > 0) curve.scatter.repeats = scatter.repeats;
    curve.scatter.neighbours = scatter.neighbours;
    curve.scatter.near = scatter.near;
    count = thin(points, pace_curve_tidy(points, count));
    if (count < 1)
        return pace_fail(PACE_E_INPUT, "%s: %s on %d ranks: expected at least one size, found none", key->system,
                         pace_collective_rows[key->collective].name, key->ranks_per_node * key->nodes);
    curve.first = (uint32_t)fit->points.count;
    curve.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&fit->points, points[i]));
    return PACE_PUSH(&fit->curves, curve);
}
