#include "exchange/calibration_curve.h"
#include "base/numbers.h"
#include "exchange/curve_shapes.h"
#include "base/order.h"

#include <math.h>

/* One curve and what is asked of it. */
typedef struct {
    const pace_curve_point *points;
    size_t count;
    const pace_fit_question *q;
    int ranks_per_node, nodes;
    double bytes, noise; /* noise: beyond what measurements usually have */
    bool steady;
} asked_curve;

static double figure(const asked_curve *c, pace_doubt doubt) { return c->q->doubts->figure[doubt]; }

/* More bytes cannot take less time, so a time above that of a larger size is noise. Only where curves of other ranks
 * are combined: a size that was measured itself keeps its time. */
static double line_time(const asked_curve *c) {
    double later = INFINITY, time_s = pace_curve_time(c->points, c->count, c->bytes);
    for (size_t i = c->count; c->steady && i-- > 0 && c->points[i].bytes >= c->bytes;)
        later = pace_least(later, c->points[i].time_s);
    return pace_least(time_s, later);
}

/* What the model says of a size, with the host that the question names. False: nothing. */
static bool modelled(pace_curve_size *out, const asked_curve *c, double bytes) {
    pace_exchange model = *c->q->model;
    pace_exchange_question here = {.collective = c->q->collective,
                                   .bytes = bytes,
                                   .ranks_per_node = c->ranks_per_node,
                                   .nodes = c->nodes,
                                   .algorithm = PACE_ANY,
                                   .protocol = PACE_ANY,
                                   .element_bytes = c->q->element_bytes},
                           empty = here;
    pace_estimate whole, waiting;
    model.stack = c->q->stack;
    empty.bytes = pace_least(bytes, figure(c, PACE_DOUBT_CURVE_FLOOR_BYTES));
    if (pace_exchange_time(&whole, &model, &here) != PACE_OK || pace_exchange_time(&waiting, &model, &empty) != PACE_OK)
        return false;
    out->model_s = whole.median;
    out->waiting_s = pace_least(waiting.median, whole.median);
    out->spread = whole.spread;
    return whole.median > 0 && isfinite(whole.median);
}

static pace_curve_size size_of(const asked_curve *c, double bytes, double time_s) {
    pace_curve_size size = {.log2_bytes = log2(pace_most(bytes, 1)), .time_s = time_s, .noise = c->noise};
    if (c->q->model && !modelled(&size, c, bytes)) size.model_s = 0;
    return size;
}

/* The first size above the one asked. */
static size_t first_above(const asked_curve *c) {
    size_t low = 0;
    PACE_SEARCH(low, c->count, middle, !(c->points[middle].bytes > c->bytes));
    return low;
}

static void mark(bool *taken, size_t *left, size_t at) {
    if (taken[at] || *left == 0) return;
    taken[at] = true;
    --*left;
}

/* Of many sizes the nearest on both sides, and some of the whole range. */
static size_t sizes_that_count(size_t chosen[PACE_SHAPE_SIZES], const asked_curve *c) {
    enum { NEAR = 2, SPREAD = 6 };
    bool taken[PACE_CURVE_KNOTS] = {false};
    size_t spread[SPREAD], found = 0, left = PACE_SHAPE_SIZES, above = first_above(c);
    for (size_t i = 1; i <= NEAR; i++) {
        if (above >= i) mark(taken, &left, above - i);
        if (above + i <= c->count) mark(taken, &left, above + i - 1);
    }
    size_t wanted = c->count > SPREAD ? pace_curve_probes(spread, c->points, c->count, SPREAD) : 0;
    for (size_t i = 0; i < wanted; i++) mark(taken, &left, spread[i]);
    for (size_t i = 0; i < c->count; i++) {
        if (c->count <= PACE_SHAPE_SIZES) mark(taken, &left, i);
        if (taken[i]) chosen[found++] = i;
    }
    return found;
}

/* How far off straight lines are at a size, from one neighbour to the other. */
static double off_line(const pace_curve_size *at) {
    double before = exp2(at[-1].log2_bytes), after = exp2(at[1].log2_bytes), bytes = exp2(at->log2_bytes);
    double line = at[-1].time_s + (at[1].time_s - at[-1].time_s) * (bytes - before) / (after - before);
    return log(line / at->time_s);
}

/* The share of straight lines between measured sizes, a quarter at least: the better they tell each of these from the
 * others, against the shapes. The same is added to both, so that two that are hardly off count alike. */
static double share_of_lines(const pace_curve_size *measured, size_t count, double of_shapes, double alike) {
    double lines = 0;
    for (size_t i = 1; i + 1 < count; i++) lines += pow(off_line(&measured[i]), 2);
    lines = pow(lines + alike, 2), of_shapes = pow(of_shapes + alike, 2);
    return (1 + 3 * of_shapes / (lines + of_shapes)) / 4;
}

/* What shapes say, and how much straight lines count beside them. */
static pace_estimate shaped(double *lines, const asked_curve *c, const pace_curve_size *asked) {
    pace_curve_size measured[PACE_SHAPE_SIZES];
    size_t chosen[PACE_SHAPE_SIZES], count = sizes_that_count(chosen, c);
    double squares, alike = pow(figure(c, PACE_DOUBT_SHAPE_NOISE), 2);
    pace_estimate s;
    for (size_t i = 0; i < count; i++)
        measured[i] = size_of(c, c->points[chosen[i]].bytes, c->points[chosen[i]].time_s);
    pace_curve_shapes_time(&s, &squares, measured, count, asked, c->q->doubts);
    *lines = count > PACE_FEW_SIZES ? share_of_lines(measured, count, squares, 2 * alike) : 0;
    if (!(asked->model_s > 0)) *lines = 1;
    return s;
}

/* How many doublings the size asked is beyond those that were measured. */
static double distance(const asked_curve *c, double log2_bytes) {
    double below = log2(pace_most(c->points[0].bytes, 1)) - log2_bytes;
    double above = log2_bytes - log2(pace_most(c->points[c->count - 1].bytes, 1));
    return pace_most(pace_most(below, above), 0);
}

/* What the distance adds to the spread. One size is in the middle of what it tells of: there a third. */
static double further_by(const asked_curve *c, const pace_curve_size *asked) {
    pace_doubt doubt = asked->model_s > 0 ? PACE_DOUBT_CURVE_DISTANCE : PACE_DOUBT_CURVE_ALONE;
    return distance(c, asked->log2_bytes) * figure(c, doubt) / (c->count > 1 ? 1 : 3);
}

static double median_of(const asked_curve *c, const pace_curve_size *asked, double shaped_s, double lines) {
    bool above = c->bytes > c->points[c->count - 1].bytes;
    if (c->bytes < c->points[0].bytes || (above && asked->model_s > 0)) return shaped_s;
    return pow(line_time(c), lines) * pow(shaped_s, 1 - lines);
}

static const pace_curve_point *measured_at(const asked_curve *c) {
    size_t above = first_above(c);
    return above > 0 && c->points[above - 1].bytes == c->bytes ? &c->points[above - 1] : NULL;
}

static pace_estimate answer(const asked_curve *c) {
    pace_curve_size asked = size_of(c, c->bytes, NAN);
    const pace_estimate nothing = {NAN, 0, PACE_RUNG_CALIBRATED, 0};
    if (c->count < 2 && !(asked.model_s > 0)) return nothing;
    bool beyond = distance(c, asked.log2_bytes) > 0;
    double lines, held_out = beyond && c->count > 1 ? 1 : figure(c, PACE_DOUBT_CURVE_HELD_OUT);
    pace_estimate s = shaped(&lines, c, &asked);
    double inside = pace_most(s.spread * held_out, figure(c, PACE_DOUBT_CURVE_LEAST));
    return (pace_estimate){median_of(c, &asked, s.median, lines), hypot(hypot(inside, c->noise), further_by(c, &asked)),
                           PACE_RUNG_CALIBRATED, 0};
}

bool pace_curve_holds(const pace_curve_point *points, size_t count, double bytes) {
    const asked_curve c = {.points = points, .count = count, .bytes = bytes};
    return measured_at(&c) != NULL;
}

pace_estimate pace_curve_answer(const pace_exchange_curve *curve, const pace_curve_point *points,
                                const pace_fit_question *q, int ranks_per_node, int nodes, double bytes, bool steady) {
    const asked_curve c = {
        points, curve->count, q, ranks_per_node, nodes, bytes, pace_curve_noise(&curve->scatter, q->doubts), steady};
    const pace_curve_point *same = measured_at(&c);
    if (!same) return answer(&c);
    return (pace_estimate){steady ? line_time(&c) : same->time_s,
                           hypot(figure(&c, PACE_DOUBT_CURVE_LEAST), M_SQRT2 * c.noise), PACE_RUNG_CALIBRATED, 0};
}
