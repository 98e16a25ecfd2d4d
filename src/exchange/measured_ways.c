#include "exchange/measured_ways.h"
#include "base/numbers.h"
#include "exchange/calibration_curve.h"
#include "exchange/curve_shapes.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what a curve's variant names --------------------------------------------------------------------------------- */

static bool is_word(const char *word, size_t length, const char *name) {
    return strlen(name) == length && pace_strncasecmp(word, name, length) == 0;
}

static int find_word(const char *word, size_t length, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (is_word(word, length, names[i])) return i;
    return PACE_ANY;
}

/* "8 channels"; PACE_ANY for another word. */
static int read_channels(const char *word, size_t length) {
    size_t digits = strspn(word, "0123456789");
    bool is = digits > 0 && digits < 7 && is_word(word + digits, length - digits, PACE_CHANNELS_WORD);
    return is ? atoi(word) : PACE_ANY;
}

/* Words between "/" that are an algorithm, a protocol or channels; PACE_ANY where there is none. */
static pace_measured_way read_way(const char *variant) {
    pace_measured_way way = {PACE_ANY, PACE_ANY, PACE_ANY, false};
    for (const char *word = variant; *word;) {
        size_t length = strcspn(word, "/");
        int a = pace_nccl_algorithm_find(word, length);
        int p = find_word(word, length, pace_nccl_protocol_names, PACE_NCCL_PROTOCOLS);
        int channels = read_channels(word, length);
        if (a != PACE_ANY) way.algorithm = a;
        if (p != PACE_ANY) way.protocol = p;
        if (channels != PACE_ANY) way.channels = channels;
        word += length + (word[length] == '/');
    }
    return way;
}

static bool names_way(const pace_exchange_curve *curve) {
    pace_measured_way way = read_way(curve->variant);
    return way.algorithm != PACE_ANY || way.protocol != PACE_ANY || way.channels != PACE_ANY;
}

pace_status pace_exchange_fit_own(pace_exchange_fit *out, const pace_exchange_fit *fit) {
    pace_exchange_fit own = {.unit_s = fit->unit_s};
    memcpy(own.unit, fit->unit, sizeof own.unit);
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < fit->curves.count; i++) {
        pace_exchange_curve curve = fit->curves.items[i];
        if (names_way(&curve)) continue;
        const pace_curve_point *points = fit->points.items + curve.first;
        curve.first = (uint32_t)own.points.count;
        status = PACE_PUSH(&own.curves, curve);
        for (uint32_t k = 0; status == PACE_OK && k < curve.count; k++) status = PACE_PUSH(&own.points, points[k]);
    }
    return PACE_GIVE(out, own, status, pace_exchange_fit_free(&own));
}

/* --- the model's side --------------------------------------------------------------------------------------------- */

static pace_exchange_question ask(const pace_fit_question *q, double bytes, int algorithm, int protocol) {
    return (pace_exchange_question){.collective = q->collective,
                                    .bytes = bytes,
                                    .ranks_per_node = q->ranks_per_node,
                                    .nodes = q->nodes,
                                    .algorithm = algorithm,
                                    .protocol = protocol,
                                    .element_bytes = q->element_bytes};
}

/* Whether the library goes this way at a size where it was told so much. Of a library that is not modelled only what
 * it was told is known. */
static bool goes(const pace_fit_question *q, double bytes, int told_algorithm, int told_protocol, int algorithm,
                 int protocol) {
    if (q->model->library != PACE_LIBRARY_NCCL) return told_algorithm == algorithm && told_protocol == protocol;
    pace_exchange_question question = ask(q, bytes, told_algorithm, told_protocol);
    int a, p;
    return pace_exchange_choice(&a, &p, q->model, &question) && a == algorithm && p == protocol;
}

static bool modelled(pace_curve_size *out, const pace_fit_question *q, pace_curve_point at, int algorithm,
                     int protocol) {
    pace_exchange model = *q->model;
    pace_exchange_question whole = ask(q, at.bytes, algorithm, protocol), empty = whole;
    pace_estimate s, waiting;
    model.stack = q->stack;
    empty.bytes = pace_least(at.bytes, q->doubts->figure[PACE_DOUBT_CURVE_FLOOR_BYTES]);
    if (pace_exchange_time(&s, &model, &whole) != PACE_OK || pace_exchange_time(&waiting, &model, &empty) != PACE_OK)
        return false;
    *out = (pace_curve_size){.log2_bytes = log2(pace_most(at.bytes, 1)),
                             .model_s = s.median,
                             .waiting_s = pace_least(waiting.median, s.median),
                             .spread = s.spread,
                             .time_s = at.time_s};
    return s.median > 0;
}

/* --- curves ------------------------------------------------------------------------------------------------------- */

static bool is_here(const pace_exchange_fit *fit, const pace_exchange_curve *curve, const pace_fit_question *q) {
    const char *system = q->system ? q->system : fit->curves.items[0].system;
    return curve->collective == q->collective && curve->ranks_per_node == q->ranks_per_node &&
           curve->nodes == q->nodes && strcmp(curve->system, system) == 0;
}

/* Measured with the way forced, this size between two that were measured. Of several the fastest, if there are numbers
 * of channels among them; else the first. */
static bool forced_time(pace_estimate *out, const pace_exchange_fit *fit, const pace_fit_question *q,
                        pace_measured_way *way) {
    bool found = false;
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves) {
        const pace_curve_point *points = fit->points.items + curve->first;
        pace_measured_way told = read_way(curve->variant);
        if (!names_way(curve) || !is_here(fit, curve, q) || (found && told.channels == way->channels)) continue;
        if (q->bytes < points[0].bytes || q->bytes > points[curve->count - 1].bytes) continue;
        if (!goes(q, q->bytes, told.algorithm, told.protocol, way->algorithm, way->protocol)) continue;
        pace_fit_question alone = *q; /* the model is of another way */
        alone.model = NULL;
        pace_estimate s = pace_curve_answer(curve, points, &alone, q->ranks_per_node, q->nodes, q->bytes, false);
        if (found && s.median >= out->median) continue;
        *out = s;
        out->rung = PACE_RUNG_MEASURED;
        way->channels = told.channels;
        way->exact = pace_curve_holds(points, curve->count, q->bytes);
        found = true;
    }
    return found;
}

static bool names_algorithm(const char *variant, const char *algorithm) {
    for (const char *word = variant; *word;) {
        size_t length = strcspn(word, "/");
        if (is_word(word, length, algorithm)) return true;
        word += length + (word[length] == '/');
    }
    return false;
}

bool pace_fit_names_algorithm(const pace_exchange_fit *fit, const char *algorithm) {
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves)
        if (names_algorithm(curve->variant, algorithm)) return true;
    return false;
}

pace_status pace_named_algorithm_time(pace_estimate *out_s, const pace_exchange_fit *fit, const pace_fit_question *q,
                                      const char *algorithm) {
    pace_fit_question alone = *q; /* the model is of the library's choice */
    alone.model = NULL;
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves) {
        if (!is_here(fit, curve, q) || !names_algorithm(curve->variant, algorithm)) continue;
        *out_s = pace_curve_answer(curve, fit->points.items + curve->first, &alone, q->ranks_per_node, q->nodes,
                                   q->bytes, false);
        return PACE_OK;
    }
    return pace_fail(PACE_E_MISSING, "%s by the algorithm %s: no curve of these ranks names it",
                     pace_collective_rows[q->collective].name, algorithm);
}

bool pace_own_size_measured(const pace_exchange_fit *fit, const pace_fit_question *q) {
    bool found = false;
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves)
        found |= is_here(fit, curve, q) && !names_way(curve) &&
                 pace_curve_holds(fit->points.items + curve->first, curve->count, q->bytes);
    return found;
}

enum { NEAR_SIZES = 4 };

typedef struct {
    pace_curve_point of[NEAR_SIZES];
    size_t count;
} near_sizes;

static double away(double bytes, const pace_fit_question *q) {
    return fabs(log2(pace_most(bytes, 1)) - log2(pace_most(q->bytes, 1)));
}

/* Keeps the sizes that are nearest to the one asked. */
static void keep_near(near_sizes *out, pace_curve_point point, const pace_fit_question *q) {
    size_t at = out->count < NEAR_SIZES ? out->count++ : NEAR_SIZES - 1;
    if (at == NEAR_SIZES - 1 && out->count == NEAR_SIZES && out->of[at].bytes > 0 &&
        away(out->of[at].bytes, q) <= away(point.bytes, q))
        return;
    for (; at > 0 && away(out->of[at - 1].bytes, q) > away(point.bytes, q); at--) out->of[at] = out->of[at - 1];
    out->of[at] = point;
}

/* Sizes at which the library went this way by itself. */
static void find_near(near_sizes *out, const pace_exchange_fit *fit, const pace_fit_question *q, int algorithm,
                      int protocol) {
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves) {
        const pace_curve_point *points = fit->points.items + curve->first;
        if (!is_here(fit, curve, q) || names_way(curve)) continue;
        for (uint32_t k = 0; k < curve->count; k++)
            if (points[k].bytes > 0 && goes(q, points[k].bytes, PACE_ANY, PACE_ANY, algorithm, protocol))
                keep_near(out, points[k], q);
        return; /* further curves of the same ranks would give sizes twice */
    }
}

double pace_way_doubt(pace_doubts_used *used, const pace_doubts *doubts, double waiting) {
    double moving = (1 - waiting) * doubts->figure[PACE_DOUBT_CHOICE];
    waiting *= doubts->figure[PACE_DOUBT_CHOICE_WAITING];
    if (used) used->added[PACE_DOUBT_CHOICE] = moving, used->added[PACE_DOUBT_CHOICE_WAITING] = waiting;
    return moving + waiting;
}

/* The library goes a way where it suits; the further from there, the less its times say. */
static double doubt_of_distance(const near_sizes *near, const pace_curve_size *asked, const pace_fit_question *q) {
    double reach = q->doubts->figure[PACE_DOUBT_SHAPE_REACH];
    return pace_way_doubt(q->used, q->doubts, asked->waiting_s / asked->model_s) *
           (1 - exp(-away(near->of[0].bytes, q) / reach));
}

pace_status pace_measured_way_time(pace_estimate *out_s, const pace_exchange_fit *fit, const pace_fit_question *q,
                                   pace_measured_way *way) {
    int algorithm = way->algorithm, protocol = way->protocol;
    near_sizes near = {.count = 0};
    pace_curve_size measured[NEAR_SIZES], asked;
    pace_curve_point here = {q->bytes, NAN};
    double squares;
    bool known = forced_time(out_s, fit, q, way);
    if (known) return PACE_OK;
    find_near(&near, fit, q, algorithm, protocol);
    known = near.count > 0 && modelled(&asked, q, here, algorithm, protocol);
    for (size_t i = 0; known && i < near.count; i++) known = modelled(&measured[i], q, near.of[i], algorithm, protocol);
    if (!known)
        return pace_fail(PACE_E_MISSING, "%s with %s: no measured size went this way",
                         pace_nccl_algorithm_names[algorithm], pace_nccl_protocol_names[protocol]);
    pace_curve_shapes_time(out_s, &squares, measured, near.count, &asked, q->doubts);
    out_s->spread = hypot(out_s->spread, doubt_of_distance(&near, &asked, q));
    return PACE_OK;
}
