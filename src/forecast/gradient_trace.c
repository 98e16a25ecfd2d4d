/* The gradients of a step that was recorded, or walked from one: where autograd accumulates them. */
#include "base/order.h"
#include "forecast/gradient_profile.h"
#include "base/sort.h"
#include "base/text.h"
#include "forecast/forecast.h"
#include "forecast/forecast_estimate.h"
#include "forecast/gradient_parts.h"
#include "step/op_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char accumulation[] = "torch::autograd::AccumulateGrad";
/* A device task, by when the host launched it. */
typedef struct {
    int64_t issued_ns, end_ns;
} launched;

PACE_ORDER(by_issue, launched, PACE_UP(issued_ns))

/* All device tasks by launch, each with the latest end of it and those before. */
static pace_status order_launches(launched **out, size_t *count, const pace_step *step) {
    launched *list = pace_alloc(step->count + 1, sizeof *list);
    size_t n = 0;
    if (!list) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < step->count; i++)
        if (pace_task_on_device(step->kind[i]))
            list[n++] = (launched){pace_task_issued_ns(step, i), pace_step_end_ns(step, i)};
    qsort(list, n, sizeof *list, by_issue);
    for (size_t i = 1; i < n; i++)
        if (list[i].end_ns < list[i - 1].end_ns) list[i].end_ns = list[i - 1].end_ns;
    *out = list;
    *count = n;
    return PACE_OK;
}

/* When all that was launched by an instant is done; the instant itself when nothing was. */
static int64_t done_ns(const launched *list, size_t count, int64_t by_ns) {
    size_t low = 0;
    PACE_SEARCH(low, count, middle, list[middle].issued_ns <= by_ns);
    return low && list[low - 1].end_ns > by_ns ? list[low - 1].end_ns : by_ns;
}

/* The step whose time is nearest to the mean one: the first of a recording is often longer. */
static const pace_mark *usual_step(const pace_rank *rank) {
    double mean = pace_mean_step_ns(rank, 0), best = INFINITY;
    const pace_mark *usual = NULL;
    PACE_ITEMS (const pace_mark, mark, &rank->marks.items) {
        double off = fabs((double)(mark->to_ns - mark->from_ns) - mean);
        if (mark->to_ns > mark->from_ns && off < best) best = off, usual = mark;
    }
    return usual;
}

static double gradient_bytes(const pace_step *step, uint32_t task) {
    pace_op_shapes shapes;
    const char *text = step->detail[task] ? pace_names_text(&step->names, step->detail[task]) : "";
    double elements = 1;
    if (!pace_op_shapes_parse(&shapes, text) || shapes.count == 0) return 0;
    for (int d = 0; d < shapes.rank[0]; d++) elements *= (double)shapes.dims[0][d];
    return elements * (shapes.element_bytes[0] ? shapes.element_bytes[0] : 4);
}

typedef struct {
    double ready_s, bytes;
    int64_t start_ns;
} gradient;

PACE_ORDER(by_ready, gradient, PACE_UP(ready_s))
PACE_ORDER(by_start, gradient, PACE_UP(start_ns))

typedef struct {
    const pace_rank *rank;
    const pace_mark *mark;
    launched *list;
    size_t launches;
    int64_t from_ns, to_ns; /* of backward */
    PACE_VEC(gradient) found;
    PACE_VEC(int64_t) forward_ns; /* starts of the forward pass's operators */
    size_t without_shape;
} search;

static pace_status look(search *s, double backward_s, uint32_t task) {
    const pace_step *step = &s->rank->step;
    const char *name = pace_step_name(step, task);
    if (step->kind[task] != PACE_TASK_OP || step->start_ns[task] < s->mark->start_ns ||
        step->start_ns[task] >= s->mark->end_ns)
        return PACE_OK;
    if (step->stage[task] == PACE_STAGE_FORWARD) return PACE_PUSH(&s->forward_ns, step->start_ns[task]);
    if (!pace_starts(name, accumulation)) return PACE_OK;
    gradient g = {.bytes = gradient_bytes(step, task), .start_ns = step->start_ns[task]};
    if (!(g.bytes > 0)) {
        s->without_shape++;
        return PACE_OK;
    }
    double at = (double)(done_ns(s->list, s->launches, pace_step_end_ns(step, task)) - s->from_ns);
    double share = s->to_ns > s->from_ns ? at / (double)(s->to_ns - s->from_ns) : 1;
    g.ready_s = fmin(fmax(share, 0), 1) * backward_s;
    return PACE_PUSH(&s->found, g);
}

static bool goes_forward_between(const search *s, int64_t from_ns, int64_t to_ns) {
    size_t low = 0;
    PACE_SEARCH(low, s->forward_ns.count, middle, s->forward_ns.items[middle] <= from_ns);
    return low < s->forward_ns.count && s->forward_ns.items[low] < to_ns;
}

/* The gradients of micro-batches are summed, and exchanged behind the last: where every backward pass accumulates the
 * same, only what the last one does counts. */
static void keep_last_pass(search *s) {
    gradient *all = s->found.items;
    size_t count = s->found.count, each = 1;
    if (s->forward_ns.count) pace_order_ns(s->forward_ns.items, s->forward_ns.count);
    qsort(all, count, sizeof *all, by_start);
    while (each < count && !goes_forward_between(s, all[each - 1].start_ns, all[each].start_ns)) each++;
    for (size_t i = each; i < count; i++) {
        bool first = goes_forward_between(s, all[i - 1].start_ns, all[i].start_ns);
        if (first != (i % each == 0) || all[i].bytes < all[i - each].bytes || all[i].bytes > all[i - each].bytes)
            return;
    }
    if (count % each) return;
    memmove(all, all + count - each, each * sizeof *all);
    s->found.count = each;
}

/* The tables of a step's look-ups in the forward pass: "aten::embedding"(table, indices). */
static void mark_tables(pace_gradient_profile *profile, const search *s) {
    const pace_step *step = &s->rank->step;
    for (uint32_t i = 0; i < step->count; i++) {
        pace_op_shapes shapes;
        const char *name = pace_step_name(step, i);
        bool bag = strcmp(name, "aten::_embedding_bag") == 0;
        if (step->kind[i] != PACE_TASK_OP || step->start_ns[i] < s->mark->start_ns ||
            step->start_ns[i] >= s->mark->end_ns || !step->detail[i] || (!bag && strcmp(name, "aten::embedding") != 0))
            continue;
        if (!pace_op_shapes_parse(&shapes, pace_names_text(&step->names, step->detail[i])) || shapes.count < 2 ||
            shapes.rank[0] != 2)
            continue;
        double rows = (double)shapes.dims[0][0], size = shapes.element_bytes[0] ? shapes.element_bytes[0] : 4,
               looked = 1;
        for (int d = 0; d < shapes.rank[1]; d++) looked *= (double)shapes.dims[1][d];
        pace_gradient_profile_mark_table(profile,
                                         &(pace_gradient_table){rows * (double)shapes.dims[0][1] * size, rows, looked});
    }
}

static pace_status take(pace_gradient_profile *profile, search *s, const char *path) {
    if (s->found.count == 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: expected the gradients of a training step with their shapes (PyTorch: "
                         "record_shapes=True), found %zu accumulated",
                         path, s->without_shape);
    keep_last_pass(s);
    PACE_SORT(&s->found, by_ready);
    PACE_TRY(pace_gradient_room(profile, s->found.count));
    profile->count = s->found.count;
    for (size_t i = 0; i < profile->count; i++) {
        profile->bytes[i] = s->found.items[i].bytes;
        profile->ready_s[i] = s->found.items[i].ready_s;
    }
    mark_tables(profile, s);
    return PACE_OK;
}

static pace_status find(pace_gradient_profile *profile, search *s) {
    const pace_step *step = &s->rank->step;
    PACE_TRY(order_launches(&s->list, &s->launches, step));
    pace_gradient_backward(&s->from_ns, &s->to_ns, s->rank, s->mark);
    for (uint32_t i = 0; i < step->count; i++) PACE_TRY(look(s, profile->backward_s, i));
    return take(profile, s, s->rank->path);
}

pace_status pace_gradient_profile_of_rank(pace_gradient_profile *out, const pace_rank *rank) {
    pace_gradient_profile profile = {0};
    search s = {.rank = rank, .mark = usual_step(rank)};
    if (!s.mark)
        return pace_fail(PACE_E_INPUT, "%s: expected whole steps, found none (" PACE_FIELD "step_regex)", rank->path);
    pace_gradient_stages(&profile, rank, s.mark);
    if (!(profile.backward_s > 0))
        return pace_fail(PACE_E_INPUT, "%s: expected a training step, found no backward pass", rank->path);
    pace_status status = find(&profile, &s);
    pace_free(s.list);
    PACE_VEC_FREE(&s.found, &s.forward_ns);
    return PACE_GIVE(out, profile, status, pace_gradient_profile_free(&profile));
}
