#include "exchange/calibration.h"
#include "exchange/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All of these were chosen on the NCCL 2.27 curves of one A100 node (docs/exchange.md) and on nothing else. */
static const double probe_from_bytes = 32768, probe_to_bytes = 33554432; /* where protocols change */
static const double spread_of_six = 0.072; /* log-spread between six probes; falls with their number */
static const double least_spread = 0.03;
static const double ranks_spread = 0.06, collective_spread = 0.12; /* added for other ranks, other collectives */
static const double hop_share = 0.13; /* one hop of a ring, as a share of an exchange that moves nothing */

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* --- one curve --------------------------------------------------------------------------------------------------- */

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

static int by_size(const void *a, const void *b) {
    const pace_curve_point *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

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
    if (wanted >= count || wanted < 4) wanted = least((double)wanted, (double)count) < 2 ? 2 : wanted;
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
        double low = most(points[0].bytes, 1);
        size_t at = nearest(points, count, between(low, points[count - 1].bytes, i, PACE_CURVE_KNOTS - 1));
        if (at != last) chosen[left++] = at;
        last = at;
    }
    for (size_t i = 0; i < left; i++) points[i] = points[chosen[i]];
    return left;
}

void pace_exchange_fit_free(pace_exchange_fit *fit) {
    PACE_VEC_FREE(&fit->curves);
    PACE_VEC_FREE(&fit->points);
}

pace_status pace_exchange_fit_add(pace_exchange_fit *fit, const pace_exchange_curve *key, pace_curve_point *points,
                                  size_t count) {
    pace_exchange_curve curve = *key;
    for (size_t i = 0; i < count; i++)
        if (!(points[i].time_s > 0) || !(points[i].bytes >= 0) || !isfinite(points[i].time_s + points[i].bytes))
            return pace_fail(PACE_E_INPUT,
                             "%s: expected a time above 0 and a size of 0 or more, found %g s at %g bytes", key->system,
                             points[i].time_s, points[i].bytes);
    count = thin(points, pace_curve_tidy(points, count));
    if (count < 2)
        return pace_fail(PACE_E_INPUT, "%s: %s on %d ranks: expected at least two sizes, found %zu", key->system,
                         pace_collective_names[key->collective], key->ranks_per_node * key->nodes, count);
    curve.first = (uint32_t)fit->points.count;
    curve.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&fit->points, points[i]));
    return PACE_PUSH(&fit->curves, curve);
}

/* --- other collectives -------------------------------------------------------------------------------------------- */

typedef struct {
    double time_s, floor_s; /* at the size asked; of the smallest size */
    int ranks;
    double spread;
} reading;

/* An all-reduce goes round the ring twice, the others once. */
static double rounds(pace_collective collective) { return collective == PACE_ALLREDUCE ? 2 : 1; }

/* The time of an exchange that moves nothing, judged from the floor of one curve. */
static double empty_s(double floor_s, pace_collective collective, int ranks) {
    return floor_s / (1 + hop_share * rounds(collective) * (ranks - 1));
}

static bool comparable(pace_collective a, pace_collective b) {
    if (a == b) return true;
    return a <= PACE_ALLTOALL && b <= PACE_ALLTOALL;
}

/* What a curve says of `collective` on its own ranks. */
static reading read_curve(const pace_exchange_fit *fit, const pace_exchange_curve *curve, pace_collective collective,
                          double bytes) {
    const pace_curve_point *points = fit->points.items + curve->first;
    reading r = {.time_s = pace_curve_time(points, curve->count, bytes), .floor_s = points[0].time_s};
    r.ranks = curve->ranks_per_node * curve->nodes;
    r.spread = most(least_spread, spread_of_six * 6 / curve->count);
    if (curve->collective != collective) {
        double factor = rounds(collective) / rounds(curve->collective);
        double empty = empty_s(r.floor_s, curve->collective, r.ranks);
        r.floor_s = empty + (r.floor_s - empty) * factor;
        r.time_s = most(r.floor_s, empty + (r.time_s - empty) * factor);
        r.spread += collective_spread;
    }
    return r;
}

/* --- other numbers of ranks ----------------------------------------------------------------------------------------
 */

/* Hops grow with the ranks of a ring, bytes with the bus factor: the share of the time that is bytes says which
 * counts. */
static reading interpolate(const reading *a, const reading *b, pace_collective collective, int ranks) {
    double hops = (double)(ranks - a->ranks) / (b->ranks - a->ranks);
    double from = pace_bus_factor(collective, a->ranks), to = pace_bus_factor(collective, b->ranks);
    double volume = to != from ? (pace_bus_factor(collective, ranks) - from) / (to - from) : hops;
    double moving = 1 - sqrt(least(a->floor_s / a->time_s, 1) * least(b->floor_s / b->time_s, 1));
    double weight = hops + (volume - hops) * moving;
    reading r = {.ranks = ranks};
    r.time_s = a->time_s + (b->time_s - a->time_s) * weight;
    r.floor_s = a->floor_s + (b->floor_s - a->floor_s) * hops;
    if (!(r.time_s > 0)) r.time_s = most(a->time_s, b->time_s);
    r.spread = most(a->spread, b->spread) + ranks_spread * (weight < 0 || weight > 1 ? 3 : 1);
    return r;
}

static bool same_system(const pace_exchange_fit *fit, const pace_exchange_curve *curve, const char *system) {
    return strcmp(curve->system, system ? system : fit->curves.items[0].system) == 0;
}

/* Of curves that differ in one way only (ranks a node, or nodes): the nearest below and above, same collectives
 * first. */
static int distance_of(const pace_exchange_curve *curve, pace_collective collective, int ranks_per_node, int nodes) {
    int ranks = ranks_per_node * nodes, own = curve->ranks_per_node * curve->nodes;
    if (curve->nodes != nodes && curve->ranks_per_node != ranks_per_node) return 0;
    if (!comparable(curve->collective, collective)) return 0;
    return own - ranks;
}

typedef struct {
    const pace_exchange_curve *exact, *below, *above;
} found;

static void consider(found *f, const pace_exchange_curve *curve, pace_collective collective, int ranks_per_node,
                     int nodes) {
    int ranks = ranks_per_node * nodes, own = curve->ranks_per_node * curve->nodes;
    if (curve->ranks_per_node == ranks_per_node && curve->nodes == nodes) {
        if (!f->exact || curve->collective == collective) f->exact = curve;
        return;
    }
    if (distance_of(curve, collective, ranks_per_node, nodes) == 0) return;
    if (own < ranks && (!f->below || own > f->below->ranks_per_node * f->below->nodes)) f->below = curve;
    if (own > ranks && (!f->above || own < f->above->ranks_per_node * f->above->nodes)) f->above = curve;
}

static found find(const pace_exchange_fit *fit, const char *system, pace_collective collective, int ranks_per_node,
                  int nodes, bool only_same) {
    found f = {0};
    for (size_t i = 0; i < fit->curves.count; i++) {
        const pace_exchange_curve *curve = &fit->curves.items[i];
        bool alike = only_same ? curve->collective == collective : comparable(curve->collective, collective);
        if (alike && same_system(fit, curve, system)) consider(&f, curve, collective, ranks_per_node, nodes);
    }
    return f;
}

pace_status pace_exchange_fit_time(pace_estimate *out_s, const pace_exchange_fit *fit, const char *system,
                                   pace_collective collective, double bytes, int ranks_per_node, int nodes) {
    int ranks = ranks_per_node * nodes;
    reading r;
    if (fit->curves.count == 0) return pace_fail(PACE_E_MISSING, "the fit holds no curve");
    if (ranks == 1) {
        *out_s = (pace_estimate){0, 0, PACE_RUNG_CALIBRATED};
        return PACE_OK;
    }
    found f = find(fit, system, collective, ranks_per_node, nodes, true);
    if (!f.exact && !(f.below && f.above)) {
        found wider = find(fit, system, collective, ranks_per_node, nodes, false);
        if (wider.exact || (wider.below && wider.above)) f = wider;
    }
    if (f.exact) r = read_curve(fit, f.exact, collective, bytes);
    else if (f.below && f.above) {
        reading a = read_curve(fit, f.below, collective, bytes), b = read_curve(fit, f.above, collective, bytes);
        r = interpolate(&a, &b, collective, ranks);
    } else
        return pace_fail(PACE_E_MISSING, "%s on %d ranks of %d node%s: nothing like it was measured on %.60s",
                         pace_collective_names[collective], ranks, nodes, nodes == 1 ? "" : "s",
                         system ? system : fit->curves.items[0].system);
    *out_s = (pace_estimate){r.time_s, r.spread, PACE_RUNG_CALIBRATED};
    return PACE_OK;
}
