#include "ask/predict/exchange_curves.h"
#include "base/halving.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A_DOUBLING = 4 }; /* sizes drawn of each */

void pace_exchange_curves_free(pace_exchange_curves *c) { PACE_VEC_FREE(&c->sizes, &c->changes, &c->measured); }

/* What it does by itself, or what it was told to. */
static pace_status way_at(pace_exchange_answer *out, const pace_exchange_asked *a, double bytes) {
    pace_exchange_question q = a->question;
    q.bytes = bytes;
    return pace_exchange_answer_question(out, &a->exchange, &q);
}

static bool same_way(const pace_exchange_answer *a, const pace_exchange_answer *b) {
    return strcmp(a->algorithm, b->algorithm) == 0 && strcmp(a->protocol, b->protocol) == 0;
}

typedef struct {
    const pace_exchange_asked *asked;
    pace_exchange_answer low;
} way;

static pace_status holds_at(bool *out, void *context, uint64_t bytes) {
    const way *w = context;
    pace_exchange_answer there;
    PACE_TRY(way_at(&there, w->asked, (double)bytes));
    *out = same_way(&w->low, &there);
    return PACE_OK;
}

static pace_status add_change(pace_exchange_curves *out, uint64_t from, const pace_exchange_answer *there) {
    return PACE_PUSH(&out->changes, ((pace_exchange_change){from, there->algorithm, there->protocol}));
}

static pace_status find_changes(pace_exchange_curves *out, const pace_exchange_asked *a) {
    way before = {.asked = a};
    for (size_t i = 0; i < out->sizes.count; i++) {
        pace_exchange_answer here;
        uint64_t bytes = (uint64_t)out->sizes.items[i].bytes, last = bytes;
        PACE_TRY(way_at(&here, a, (double)bytes));
        if (i > 0 && same_way(&before.low, &here)) continue;
        if (i > 0) PACE_TRY(pace_halve(&last, (uint64_t)out->sizes.items[i - 1].bytes, bytes, holds_at, &before));
        PACE_TRY(add_change(out, i > 0 ? last + 1 : bytes, &here));
        before.low = here;
    }
    return PACE_OK;
}

static pace_status add_size(pace_exchange_curves *out, const pace_exchange_asked *a, double bytes) {
    pace_exchange_answer answer;
    bytes = floor(bytes);
    if (out->sizes.count && out->sizes.items[out->sizes.count - 1].bytes >= bytes) return PACE_OK;
    PACE_TRY(pace_exchange_asked_answer(&answer, a, bytes));
    return PACE_PUSH(&out->sizes, ((pace_drawn_size){bytes, answer.time_s}));
}

/* The sizes that were asked, in order, and between two of them those that a logarithmic axis shows. */
static pace_status add_sizes(pace_exchange_curves *out, const pace_exchange_asked *a, const pace_sizes *sorted) {
    for (size_t i = 0; i < sorted->count; i++) {
        double bytes = sorted->items[i], next = i + 1 < sorted->count ? sorted->items[i + 1] : bytes;
        double steps = bytes > 0 ? ceil(A_DOUBLING * log2(next / bytes)) : 0;
        PACE_TRY(add_size(out, a, bytes));
        for (double k = 1; k < steps; k++) PACE_TRY(add_size(out, a, bytes * pow(next / bytes, k / steps)));
    }
    return PACE_OK;
}

static pace_status draw_sizes(pace_exchange_curves *out, const pace_exchange_asked *a) {
    pace_sizes sorted = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < a->sizes.count; i++) status = PACE_PUSH(&sorted, a->sizes.items[i]);
    if (status == PACE_OK) PACE_SORT(&sorted, pace_ascending);
    if (status == PACE_OK) status = add_sizes(out, a, &sorted);
    PACE_VEC_FREE(&sorted);
    return status;
}

/* Of the curves of this collective on these ranks, sizes within those that were asked. */
static pace_status add_measured(pace_exchange_curves *out, const pace_exchange_asked *a) {
    int per_node = pace_exchange_asked_per_node(a), nodes = pace_exchange_asked_nodes(a);
    double least = out->sizes.items[0].bytes, most = out->sizes.items[out->sizes.count - 1].bytes;
    const pace_exchange_fit *fit = pace_exchange_asked_curves(a);
    for (size_t i = 0; a->system && i < fit->curves.count; i++) {
        const pace_exchange_curve *c = &fit->curves.items[i];
        const pace_curve_point *points = fit->points.items + c->first;
        bool here = c->collective == a->question.collective && c->ranks_per_node == per_node && c->nodes == nodes;
        if (!here || strcmp(c->system, a->system) != 0) continue;
        for (uint32_t k = 0; k < c->count; k++)
            if (points[k].bytes >= least && points[k].bytes <= most) PACE_TRY(PACE_PUSH(&out->measured, points[k]));
    }
    return PACE_OK;
}

pace_status pace_exchange_curves_make(pace_exchange_curves *out, const pace_exchange_asked *a) {
    int ranks = pace_exchange_asked_per_node(a) * pace_exchange_asked_nodes(a);
    out->bus_factor = pace_bus_factor(a->question.collective, ranks);
    PACE_TRY(draw_sizes(out, a));
    PACE_TRY(find_changes(out, a));
    return add_measured(out, a);
}
