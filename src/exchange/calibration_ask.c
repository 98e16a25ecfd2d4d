/* What measured curves say of an exchange that was not measured: docs/exchange.md, "Calibration". */
#include "base/numbers.h"
#include "base/sort.h"
#include "exchange/calibration_curve.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ALIKE = 64, DOUBLINGS = 24 };

static double figure(const pace_fit_question *q, pace_doubt doubt) { return q->doubts->figure[doubt]; }

/* --- the curves of one place -------------------------------------------------------------------------------------- */

/* One collective on one number of ranks: what its curves say of a size. */
typedef struct {
    double time_s, floor_s; /* at the size asked; of the smallest size */
    pace_collective collective;
    int ranks_per_node, nodes, ranks;
    int element_bytes; /* of the curves that answered */
    double spread;
    pace_doubts_used used; /* what the spread is of; the parts are added, not squared */
} reading;

/* How NCCL moves data: lines with flags inside, plain buffers, or sums made by the switch. It changes from one to
 * another by its own estimate, and the time jumps there: at other sizes on other numbers of ranks. */
typedef enum { WAY_UNKNOWN, WAY_LINES, WAY_PLAIN, WAY_SWITCH } way;

static double model_time(const pace_fit_question *q, const reading *place, double bytes, way how);

static pace_exchange_question ask(const pace_fit_question *q, const reading *place, double bytes) {
    return (pace_exchange_question){.collective = q->collective,
                                    .bytes = bytes,
                                    .ranks_per_node = place->ranks_per_node,
                                    .nodes = place->nodes,
                                    .algorithm = PACE_ANY,
                                    .protocol = PACE_ANY,
                                    .element_bytes = q->element_bytes};
}

static bool same_system(const pace_exchange_fit *fit, const pace_exchange_curve *curve, const char *system) {
    return strcmp(curve->system, system ? system : fit->curves.items[0].system) == 0;
}

static bool same_place(const pace_exchange_curve *curve, pace_collective collective, int ranks_per_node, int nodes) {
    return curve->collective == collective && curve->ranks_per_node == ranks_per_node && curve->nodes == nodes;
}

/* Curves of the same variant come first, then those of elements as wide. */
static int likeness(const pace_exchange_curve *curve, const pace_fit_question *q) {
    return (q->variant && pace_strcasecmp(curve->variant, q->variant) == 0) * 2 +
           (curve->element_bytes == q->element_bytes);
}

/* The time of an exchange that moves nothing, as far as the curve or the model tells; no more than `time_s`. */
static double floor_of(const pace_exchange_curve *curve, const pace_curve_point *points, const pace_fit_question *q,
                       const reading *place, double time_s, bool steady) {
    double least = pace_least(points[0].bytes, figure(q, PACE_DOUBT_CURVE_FLOOR_BYTES));
    double bytes = curve->count <= PACE_FEW_SIZES || q->model ? least : points[0].bytes;
    pace_estimate s = pace_curve_answer(curve, points, q, place->ranks_per_node, place->nodes, bytes, steady);
    return isnan(s.median) ? time_s : pace_least(time_s, s.median);
}

/* The median of the curves that are most like the question. False: none there. */
static bool read_place(reading *out, const pace_exchange_fit *fit, const pace_fit_question *q, double bytes,
                       pace_collective collective, int ranks_per_node, int nodes, bool steady) {
    double times[MOST_ALIKE], floors[MOST_ALIKE], spreads[MOST_ALIKE];
    size_t alike = 0;
    int best = -1, element_bytes = 0;
    bool out_of_range = true;
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves) {
        const pace_curve_point *points = fit->points.items + curve->first;
        if (!same_place(curve, collective, ranks_per_node, nodes) || !same_system(fit, curve, q->system)) continue;
        int how = likeness(curve, q);
        if (how > best) alike = 0, best = how, element_bytes = curve->element_bytes, out_of_range = true;
        if (how < best || alike == MOST_ALIKE) continue;
        reading place = {.ranks_per_node = ranks_per_node, .nodes = nodes, .ranks = ranks_per_node * nodes};
        out_of_range &= bytes < points[0].bytes || bytes > points[curve->count - 1].bytes;
        pace_estimate s = pace_curve_answer(curve, points, q, ranks_per_node, nodes, bytes, steady);
        if (isnan(s.median)) continue;
        times[alike] = s.median;
        spreads[alike] = s.spread;
        floors[alike++] = floor_of(curve, points, q, &place, s.median, steady);
    }
    if (alike == 0) return false;
    *out = (reading){.collective = collective,
                     .ranks_per_node = ranks_per_node,
                     .nodes = nodes,
                     .ranks = ranks_per_node * nodes,
                     .element_bytes = element_bytes,
                     .spread = pace_median(spreads, alike)};
    out->used.added[PACE_DOUBT_CURVE_PROBES] = out->spread;
    out->used.beyond_sizes = out_of_range;
    out->time_s = pace_median(times, alike);
    out->floor_s = pace_median(floors, alike);
    return true;
}

/* --- what the library does ---------------------------------------------------------------------------------------- */

static way way_of(const pace_fit_question *q, const reading *place, double bytes) {
    pace_exchange_question question = ask(q, place, bytes);
    int algorithm, protocol;
    if (!q->model || pace_collective_rows[q->collective].sends ||
        !pace_exchange_choice(&algorithm, &protocol, q->model, &question))
        return WAY_UNKNOWN;
    if (algorithm == PACE_NCCL_NVLS || algorithm == PACE_NCCL_NVLSTREE) return WAY_SWITCH;
    return protocol == PACE_NCCL_SIMPLE ? WAY_PLAIN : WAY_LINES;
}

/* What the model says of a way; INFINITY when the way cannot be taken. Of one way, what the library believes: by that
 * it changes from one to another. */
static double model_time(const pace_fit_question *q, const reading *place, double bytes, way how) {
    static const struct {
        way how;
        int algorithm, protocol;
    } table[] = {{WAY_LINES, PACE_ANY, PACE_NCCL_LL},
                 {WAY_LINES, PACE_ANY, PACE_NCCL_LL128},
                 {WAY_PLAIN, PACE_NCCL_RING, PACE_NCCL_SIMPLE},
                 {WAY_PLAIN, PACE_NCCL_TREE, PACE_NCCL_SIMPLE},
                 {WAY_SWITCH, PACE_NCCL_NVLS, PACE_NCCL_SIMPLE},
                 {WAY_UNKNOWN, PACE_ANY, PACE_ANY}};
    double best = INFINITY;
    pace_exchange model = *q->model;
    if (how != WAY_UNKNOWN) model.stack = PACE_STACK_BELIEF;
    for (size_t i = 0; i < PACE_COUNT(table); i++) {
        pace_exchange_question question = ask(q, place, bytes);
        pace_estimate s;
        if (table[i].how != how) continue;
        question.algorithm = table[i].algorithm;
        question.protocol = table[i].protocol;
        if (pace_exchange_time(&s, &model, &question) == PACE_OK) best = pace_least(best, s.median);
    }
    return best;
}

/* How much more than the model says `b` takes against `a`, at the size nearest to the one asked at which both go `how`;
 * unchanged when they never do. */
static void find_excess(double *out, const pace_exchange_fit *fit, const pace_fit_question *q, const reading *a,
                        const reading *b, way how) {
    for (int i = 1; i <= 2 * DOUBLINGS; i++) {
        double bytes = q->bytes * pow(2, i % 2 ? (i + 1) / 2 : -i / 2);
        reading x, y;
        if (bytes < 1 || bytes > 1e12 || way_of(q, a, bytes) != how || way_of(q, b, bytes) != how) continue;
        if (!read_place(&x, fit, q, bytes, q->collective, a->ranks_per_node, a->nodes, true) ||
            !read_place(&y, fit, q, bytes, q->collective, b->ranks_per_node, b->nodes, true))
            return;
        double excess = y.time_s / model_time(q, b, bytes, how) / (x.time_s / model_time(q, a, bytes, how));
        if (isfinite(excess) && excess > 0) *out = excess;
        return;
    }
}

/* The time `other` would take if it went `how`, as `same` did: what the model says of both, times what both took
 * against it where both went so. When no size tells, as it is on A100: larger rings come closer to the model. */
static void go_as(reading *other, const pace_exchange_fit *fit, const pace_fit_question *q, const reading *same,
                  way how) {
    double excess = pow((double)other->ranks / same->ranks, figure(q, PACE_DOUBT_CURVE_LARGER_RINGS));
    double ratio = model_time(q, other, q->bytes, how) / model_time(q, same, q->bytes, how);
    find_excess(&excess, fit, q, same, other, how);
    double time_s = same->time_s * ratio * excess;
    if (isfinite(time_s) && time_s > 0) other->time_s = time_s;
}

/* Switches add no elements of one byte: where their curves were measured too, they show what `other` takes without its
 * switch, `same` going without one. True: `q` asks for such elements from now on. */
static bool leave_switch(reading *other, const reading *same, const pace_exchange_fit *fit, pace_fit_question *q) {
    pace_fit_question bytes = *q;
    reading a, b;
    bytes.element_bytes = 1;
    if (!read_place(&a, fit, &bytes, q->bytes, q->collective, same->ranks_per_node, same->nodes, true) ||
        !read_place(&b, fit, &bytes, q->bytes, q->collective, other->ranks_per_node, other->nodes, true) ||
        a.element_bytes != 1 || b.element_bytes != 1)
        return false;
    other->time_s = b.time_s * same->time_s / a.time_s;
    *q = bytes;
    return true;
}

/* Both as the library would do it on the ranks asked. */
static void go_alike(reading *a, reading *b, const pace_exchange_fit *fit, const pace_fit_question *asked) {
    pace_fit_question q = *asked;
    reading there = {.ranks_per_node = q.ranks_per_node, .nodes = q.nodes};
    way how = way_of(&q, &there, q.bytes), of_a = way_of(&q, a, q.bytes), of_b = way_of(&q, b, q.bytes);
    if (how == WAY_UNKNOWN || of_a == WAY_UNKNOWN || of_b == WAY_UNKNOWN) return;
    if (how != WAY_SWITCH && of_b == WAY_SWITCH && of_a != WAY_SWITCH && leave_switch(b, a, fit, &q))
        of_b = way_of(&q, b, q.bytes);
    if (of_a == how && of_b != how) go_as(b, fit, &q, a, how);
    else if (of_b == how && of_a != how) go_as(a, fit, &q, b, how);
}

/* --- other numbers of ranks --------------------------------------------------------------------------------------- */

static double share_of_bytes(const reading *r) { return 1 - pace_least(r->floor_s / r->time_s, 1); }

/* Hops grow with the ranks of a ring, bytes with the bus factor: the share of the time that is bytes says which
 * counts. */
static double line_through(const reading *a, const reading *b, pace_collective collective, int ranks) {
    double hops = (double)(ranks - a->ranks) / (b->ranks - a->ranks);
    double from = pace_bus_factor(collective, a->ranks), to = pace_bus_factor(collective, b->ranks);
    double volume = to != from ? (pace_bus_factor(collective, ranks) - from) / (to - from) : hops;
    double waiting = sqrt((1 - share_of_bytes(a)) * (1 - share_of_bytes(b)));
    double moving = (1 - waiting) * (1 - waiting);
    return a->time_s + (b->time_s - a->time_s) * (hops + (volume - hops) * moving);
}

/* A measured time where the model says `there` instead of `here`: calls that wait for hosts stay as they are, so of an
 * empty exchange the difference counts; bytes take the ratio. */
static double scaled(double time_s, double here, double there, double bytes) {
    double ratio = time_s * there / here, sum = time_s + there - here;
    if (there < here) sum = pace_most(sum, ratio);
    return pow(sum, 1 - bytes) * pow(ratio, bytes);
}

/* One reading carried to other ranks of the same tier: its floor by hops, the rest by the bus factor. */
static double carried(const reading *r, const pace_fit_question *q, int ranks) {
    pace_collective collective = q->collective;
    double hop = figure(q, PACE_DOUBT_CURVE_HOP);
    double hops =
        (1 + hop * pace_collective_hops(collective, ranks)) / (1 + hop * pace_collective_hops(collective, r->ranks));
    double volume = pace_bus_factor(collective, ranks) / pace_bus_factor(collective, r->ranks),
           bytes = share_of_bytes(r);
    return r->time_s * pow(hops, 1 - bytes) * pow(volume, bytes);
}

/* Over several nodes other ranks a node have other NICs: of those no hop and no bus factor tells. */
static bool of_tier(const reading *r, const pace_fit_question *q) {
    return q->nodes > 1 ? r->nodes > 1 && r->ranks_per_node == q->ranks_per_node : r->nodes == 1;
}

/* Beyond what was measured: the geometric mean of what can be said. A line through two readings, one of them carried by
 * hops and bytes, and one times what the model says of the two sizes of group. */
static bool extend(reading *out, const pace_fit_question *q, const reading *near, const reading *far) {
    reading asked = {.ranks_per_node = q->ranks_per_node, .nodes = q->nodes, .ranks = q->ranks_per_node * q->nodes};
    bool same_tier = of_tier(near, q);
    double logs = 0;
    int count = 0;
    if (same_tier) logs += log(carried(near, q, asked.ranks)), count++;
    if (same_tier && far && of_tier(far, q)) {
        double line = line_through(far, near, q->collective, asked.ranks);
        if (line > 0.25 * near->time_s) logs += log(line), count++;
    }
    if (q->model) {
        double there = model_time(q, &asked, q->bytes, WAY_UNKNOWN), here = model_time(q, near, q->bytes, WAY_UNKNOWN);
        double bytes = share_of_bytes(near);
        if (isfinite(there) && there > 0 && isfinite(here))
            logs += log(scaled(near->time_s, here, there, bytes)), count++;
    }
    if (count == 0) return false;
    asked.collective = q->collective;
    asked.time_s = exp(logs / count);
    asked.floor_s = near->floor_s;
    double doublings = fabs(log2((double)asked.ranks / near->ranks));
    double beyond = figure(q, same_tier ? PACE_DOUBT_CURVE_BEYOND : PACE_DOUBT_CURVE_TIER);
    double added = !same_tier || count > 2 ? beyond : beyond * pace_most(1, doublings);
    asked.spread = near->spread + added;
    asked.used = near->used;
    asked.used.added[same_tier ? PACE_DOUBT_CURVE_BEYOND : PACE_DOUBT_CURVE_TIER] = added;
    *out = asked;
    return true;
}

typedef struct {
    reading below, second_below, above, second_above;
    int count_below, count_above;
} neighbours;

static void keep_nearest(reading *first, reading *second, int *count, const reading *r, bool nearer) {
    if (*count > 0 && r->ranks == first->ranks && r->nodes == first->nodes) return;
    if (*count == 0 || nearer) *second = *first, *first = *r, ++*count;
    else if (*count == 1) *second = *r, ++*count;
}

/* Measured places that differ in one way only from the one asked, ranks a node or nodes. */
static void find_neighbours(neighbours *out, const pace_exchange_fit *fit, const pace_fit_question *q) {
    int ranks = q->ranks_per_node * q->nodes;
    *out = (neighbours){0};
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves) {
        reading r;
        if (curve->collective != q->collective || !same_system(fit, curve, q->system)) continue;
        if (curve->ranks_per_node != q->ranks_per_node && curve->nodes != q->nodes) continue;
        if (!read_place(&r, fit, q, q->bytes, q->collective, curve->ranks_per_node, curve->nodes, true)) continue;
        if (r.ranks < ranks)
            keep_nearest(&out->below, &out->second_below, &out->count_below, &r, r.ranks > out->below.ranks);
        if (r.ranks > ranks)
            keep_nearest(&out->above, &out->second_above, &out->count_above, &r, r.ranks < out->above.ranks);
    }
}

/* Whether what lies between two readings is asked: both of its tier, or both on as many nodes. */
static bool stands_between(const neighbours *n, const pace_fit_question *q) {
    if (n->count_below == 0 || n->count_above == 0) return false;
    return (of_tier(&n->below, q) && of_tier(&n->above, q)) ||
           (n->below.nodes == q->nodes && n->above.nodes == q->nodes);
}

/* From other ranks of the same collective. */
static bool of_other_ranks(reading *out, const pace_exchange_fit *fit, const pace_fit_question *q) {
    neighbours n;
    find_neighbours(&n, fit, q);
    if (stands_between(&n, q)) {
        reading a = n.below, b = n.above;
        go_alike(&a, &b, fit, q);
        *out = a;
        out->time_s = line_through(&a, &b, q->collective, q->ranks_per_node * q->nodes);
        if (!(out->time_s > 0)) out->time_s = sqrt(a.time_s * b.time_s);
        out->spread = pace_most(a.spread, b.spread) + figure(q, PACE_DOUBT_CURVE_RANKS);
        out->used.added[PACE_DOUBT_CURVE_RANKS] = figure(q, PACE_DOUBT_CURVE_RANKS);
        return true;
    }
    bool above = n.count_above > 0 && of_tier(&n.above, q) && !(n.count_below > 0 && of_tier(&n.below, q));
    if (n.count_below > 0 && !above) return extend(out, q, &n.below, n.count_below > 1 ? &n.second_below : NULL);
    return n.count_above > 0 && extend(out, q, &n.above, n.count_above > 1 ? &n.second_above : NULL);
}

/* --- other collectives -------------------------------------------------------------------------------------------- */

/* A host that starts many devices from one process takes longer than their small exchanges do: then the floor is its
 * own, the same for every collective. Where the model was told of that host, it says so itself. */
static bool waits_for_host(const reading *r, const pace_fit_question *measured) {
    pace_exchange believed = *measured->model;
    pace_fit_question empty = *measured;
    empty.model = &believed;
    if (believed.stack == PACE_STACK_ONE_PROCESS) return false;
    believed.stack = PACE_STACK_BELIEF;
    return r->floor_s > figure(measured, PACE_DOUBT_CURVE_HOST_FLOOR) * model_time(&empty, r, 1, WAY_UNKNOWN);
}

/* What is above an empty exchange grows with the bus factor; the empty one is the floor without its hops. With a model,
 * the geometric mean of that and of what the model says of both. */
static reading as_collective(const reading *r, const pace_fit_question *q, const pace_fit_question *measured) {
    double empty = r->floor_s / (1 + figure(q, PACE_DOUBT_CURVE_HOP) * pace_collective_hops(r->collective, r->ranks));
    double hops = pace_collective_hops(q->collective, r->ranks) / pace_collective_hops(r->collective, r->ranks);
    double volume = pace_bus_factor(q->collective, r->ranks) / pace_bus_factor(r->collective, r->ranks);
    reading out = *r;
    out.collective = q->collective;
    out.floor_s = empty + (r->floor_s - empty) * hops;
    out.time_s = pace_most(out.floor_s, out.floor_s + (r->time_s - r->floor_s) * volume);
    bool other_way = pace_collective_rows[q->collective].sends != pace_collective_rows[r->collective].sends;
    out.spread += figure(q, PACE_DOUBT_CURVE_COLLECTIVE) + (other_way ? figure(q, PACE_DOUBT_CURVE_DIRECT) : 0);
    out.used.added[PACE_DOUBT_CURVE_COLLECTIVE] = figure(q, PACE_DOUBT_CURVE_COLLECTIVE);
    if (other_way) out.used.added[PACE_DOUBT_CURVE_DIRECT] = figure(q, PACE_DOUBT_CURVE_DIRECT);
    if (!q->model) return out;
    if (waits_for_host(r, measured)) {
        out.floor_s = r->floor_s;
        out.time_s = r->floor_s + pace_most(r->time_s - r->floor_s, 0) * volume;
        return out;
    }
    double here = model_time(measured, r, q->bytes, WAY_UNKNOWN), there = model_time(q, r, q->bytes, WAY_UNKNOWN);
    if (!isfinite(here) || !isfinite(there) || !(here > 0)) return out;
    if (q->model->stack == PACE_STACK_ONE_PROCESS) out.time_s = r->time_s * there / here; /* it knows that host */
    else out.time_s = sqrt(out.time_s * scaled(r->time_s, here, there, share_of_bytes(r)));
    return out;
}

/* The collective of a place in the order in which they stand in for each other. */
static pace_collective of_likeness(int place) {
    int c = 0;
    while (pace_collective_rows[c].likeness != place) c++;
    return (pace_collective)c;
}

/* From another collective, the one that is closest to the one asked, on its ranks or on others. */
static bool of_other_collective(reading *out, const pace_exchange_fit *fit, const pace_fit_question *q) {
    for (int exact = 1; exact >= 0; exact--)
        for (int place = 1; place <= PACE_COLLECTIVES; place++) {
            pace_fit_question other = *q;
            reading r;
            other.collective = of_likeness(place);
            if (other.collective == q->collective) continue;
            bool known =
                exact ? read_place(&r, fit, &other, q->bytes, other.collective, q->ranks_per_node, q->nodes, false)
                      : of_other_ranks(&r, fit, &other);
            if (!known) continue;
            r.ranks_per_node = q->ranks_per_node;
            r.nodes = q->nodes;
            r.ranks = q->ranks_per_node * q->nodes;
            r.collective = other.collective;
            *out = as_collective(&r, q, &other);
            return true;
        }
    return false;
}

pace_status pace_exchange_fit_time(pace_estimate *out_s, const pace_exchange_fit *fit, const pace_fit_question *q) {
    int ranks = q->ranks_per_node * q->nodes;
    reading r;
    if (fit->curves.count == 0) return pace_fail(PACE_E_MISSING, "the fit holds no curve");
    if (ranks == 1) {
        *out_s = (pace_estimate){0, 0, PACE_RUNG_CALIBRATED, 0};
        return PACE_OK;
    }
    if (!read_place(&r, fit, q, q->bytes, q->collective, q->ranks_per_node, q->nodes, false) &&
        !of_other_ranks(&r, fit, q) && !of_other_collective(&r, fit, q))
        return pace_fail(PACE_E_MISSING, "%s on %d ranks of %d node%s: nothing like it was measured on %.60s",
                         pace_collective_rows[q->collective].name, ranks, q->nodes, q->nodes == 1 ? "" : "s",
                         q->system ? q->system : fit->curves.items[0].system);
    *out_s = (pace_estimate){r.time_s, r.spread, PACE_RUNG_CALIBRATED, 0};
    if (q->used) *q->used = r.used;
    return PACE_OK;
}
