#include "forecast/self_check.h"

#include "base/numbers.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <math.h>

/* Sums of doubles in another order. */
static const double rounding = 1e-9;

static const char *node_name(const pace_variant *v, uint32_t launch) {
    return pace_names_text(&v->graph.names, v->graph.nodes.items[v->graph.launches.items[launch].node].name);
}

static pace_status check_launch(const pace_variant *v, uint32_t launch, bool *taken) {
    double flop = 0, bytes = 0;
    if (v->launches[launch].added) return PACE_OK;
    for (uint32_t part = v->launches[launch].part; part != PACE_NO_LAUNCH; part = v->next_part[part]) {
        const pace_op *op = pace_variant_part_op(v, part);
        if (taken[part])
            return pace_fail(PACE_E_INTERNAL, "self-check: launch %u of the measured step is done twice", part);
        taken[part] = true;
        flop += op ? op->flop : 0;
        bytes += op ? op->read_bytes + op->write_bytes : 0;
    }
    const pace_op *now = pace_variant_op(v, launch);
    double expected = flop * v->launches[launch].more, found = now ? now->flop : 0;
    if (!(fabs(found - expected) <= rounding * (expected + 1)))
        return pace_fail(PACE_E_INTERNAL, "self-check: %.80s: expected %.12g flop of its parts, found %.12g",
                         node_name(v, launch), expected, found);
    if (now && (now->read_bytes < 0 || now->write_bytes < 0 ||
                (bytes > 0 && v->launches[launch].more > 0 && !(now->read_bytes + now->write_bytes > 0))))
        return pace_fail(PACE_E_INTERNAL, "self-check: %.80s: its parts move %.12g bytes, it reads %.12g, writes %.12g",
                         node_name(v, launch), bytes, now->read_bytes, now->write_bytes);
    return PACE_OK;
}

static pace_status check_variant(const pace_variant *v) {
    size_t count = v->original->launches.count;
    bool *taken = pace_alloc(count + 1, sizeof *taken);
    pace_status status = taken ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t i = 0; status == PACE_OK && i < v->graph.launches.count; i++) status = check_launch(v, i, taken);
    for (size_t i = 0; status == PACE_OK && i < count; i++)
        if (!taken[i])
            status = pace_fail(PACE_E_INTERNAL, "self-check: launch %zu of the measured step is no longer done", i);
    pace_free(taken);
    if (status == PACE_OK) status = pace_graph_check(&v->graph);
    return status;
}

pace_status pace_self_check_edits(const pace_variant *variants, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!variants[i].borrows) PACE_TRY(check_variant(&variants[i]));
    return PACE_OK;
}

pace_status pace_self_check_prices(size_t *beyond, const double *launch_ns, const pace_pricing *pricing) {
    const pace_device *device = pace_pricing_device(pricing);
    bool scaled = pace_scenario_value_at(pricing->scenario, "scale", 0) != NULL;
    for (uint32_t i = 0; device && !scaled && i < pricing->variant->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(pricing->variant, i);
        if (!op || pricing->variant->launches[i].slower < 1) continue;
        double bound = 1e9 * pace_cost_least_s(pricing->forecast->cost, device, op);
        if (!(launch_ns[i] < bound * (1 - rounding))) continue;
        if (!pace_price_was_beyond(pricing, i))
            return pace_fail(PACE_E_INTERNAL,
                             "self-check: %.80s would take %.0f ns on %s, whose peaks need %.0f ns for %.6g flop and "
                             "%.6g bytes",
                             node_name(pricing->variant, i), launch_ns[i], device->name, bound, op->flop,
                             op->read_bytes + op->write_bytes);
        ++*beyond;
    }
    return PACE_OK;
}

static pace_status check_rank(const pace_step *step, const pace_walk_rank *rank, unsigned repeats) {
    int64_t expected_ns = 0, found_ns = 0;
    size_t expected = rank->graph->launches.count * repeats, found = 0;
    for (size_t i = 0; i < rank->graph->launches.count; i++)
        if (!rank->graph->launches.items[i].exchange) expected_ns += pace_round(rank->launch_ns[i]) * repeats;
    for (uint32_t task = 0; task < step->count; task++) {
        if (!pace_task_on_device(step->kind[task])) continue;
        found++;
        if (!pace_step_exchange(step, task)) found_ns += pace_task_ns(step, task);
    }
    if (found != expected)
        return pace_fail(PACE_E_INTERNAL, "self-check: expected %zu launches in the walked step, found %zu", expected,
                         found);
    if (found_ns != expected_ns)
        return pace_fail(PACE_E_INTERNAL,
                         "self-check: the step's kernels were priced at %" PRId64 " ns, the walk spent %" PRId64 " ns",
                         expected_ns, found_ns);
    return pace_step_check(step);
}

typedef struct {
    const pace_step *steps;
    const pace_walk_rank *ranks;
    unsigned repeats;
} walked_ranks;

static pace_status check_one(void *context, size_t worker, size_t rank) {
    const walked_ranks *walked = context;
    (void)worker;
    return check_rank(&walked->steps[rank], &walked->ranks[rank], walked->repeats);
}

pace_status pace_self_check_walk(const pace_step *steps, const pace_walk_rank *ranks, size_t count, unsigned repeats) {
    return pace_for_each(count, check_one, &(walked_ranks){steps, ranks, repeats});
}

pace_status pace_self_check_matrix(const pace_analysis *analysis) {
    for (size_t r = 0; r < analysis->ranks.count; r++) {
        const pace_rank *rank = analysis->ranks.items[r];
        for (size_t i = 0; i < rank->marks.items.count; i++) {
            const pace_mark *mark = &rank->marks.items.items[i];
            if (mark->to_ns <= mark->from_ns) continue;
            pace_matrix matrix = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
            int64_t sum = pace_matrix_total(&matrix);
            if (sum != mark->to_ns - mark->from_ns)
                return pace_fail(PACE_E_INTERNAL,
                                 "self-check: stages and resources of step %zu add up to %" PRId64
                                 " ns, it takes %" PRId64 " ns",
                                 i, sum, mark->to_ns - mark->from_ns);
        }
    }
    return PACE_OK;
}
