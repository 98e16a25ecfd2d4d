#include "forecast/variant.h"
#include "step/graph_edit.h"

#include <math.h>

void pace_variant_free(pace_variant *variant) {
    if (!variant->borrows) pace_graph_free(&variant->graph);
    PACE_FREE(variant->launches, variant->next_part);
    *variant = (pace_variant){0};
}

pace_status pace_variant_borrow(pace_variant *out, const pace_graph *original, const pace_doubts *doubts) {
    pace_variant variant = {.original = original, .doubts = doubts, .graph = *original, .borrows = true};
    if (!PACE_MAKE(variant.launches, original->launches.count + 1) ||
        !PACE_MAKE(variant.next_part, original->launches.count + 1)) {
        pace_variant_free(&variant);
        return PACE_E_MEMORY;
    }
    for (uint32_t i = 0; i < original->launches.count; i++) {
        variant.launches[i] = (pace_variant_launch){.part = i, .more = 1, .slower = 1};
        variant.next_part[i] = PACE_NO_LAUNCH;
    }
    *out = variant;
    return PACE_OK;
}

pace_status pace_variant_init(pace_variant *out, const pace_graph *original, const pace_doubts *doubts) {
    PACE_TRY(pace_variant_borrow(out, original, doubts));
    pace_status status = pace_graph_copy(&out->graph, original);
    if (status == PACE_OK) out->borrows = false;
    else pace_variant_free(out);
    return status;
}

static const pace_op *op_of(const pace_graph *graph, uint32_t launch) {
    uint32_t op = graph->launches.items[launch].op;
    return op == PACE_NO_OP ? NULL : &graph->ops.items[op];
}

const pace_op *pace_variant_op(const pace_variant *variant, uint32_t launch) { return op_of(&variant->graph, launch); }

const pace_op *pace_variant_part_op(const pace_variant *variant, uint32_t part) {
    return op_of(variant->original, part);
}

pace_status pace_variant_set_op(pace_variant *variant, uint32_t launch, const pace_op *op) {
    return pace_graph_intern_op(&variant->graph.launches.items[launch].op, &variant->graph, op);
}

void pace_variant_assume(pace_variant *variant, uint32_t launch, pace_doubt doubt, double spread) {
    if (!(spread > 0)) return;
    variant->launches[launch].assumed_by = doubt;
    variant->launches[launch].assumed = hypot(variant->launches[launch].assumed, spread);
}

static void append_parts(pace_variant *variant, uint32_t to, uint32_t from) {
    uint32_t last = variant->launches[to].part;
    while (variant->next_part[last] != PACE_NO_LAUNCH) last = variant->next_part[last];
    variant->next_part[last] = variant->launches[from].part;
    pace_variant_assume(variant, to, variant->launches[from].assumed_by, variant->launches[from].assumed);
}

/* An operator that returned when its own work was done returns at once when another does that work. */
static void wait_no_more(pace_graph *graph, uint32_t launch) {
    uint32_t *waits = &graph->nodes.items[graph->launches.items[launch].node].waits_launch;
    if (*waits == launch) *waits = PACE_NO_LAUNCH;
}

pace_status pace_variant_merge(pace_variant *variant, uint32_t *into) {
    size_t count = variant->graph.launches.count, kept = 0;
    bool *stays = pace_alloc(count + 1, sizeof *stays);
    if (!stays) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) stays[i] = into[i] == i;
    for (uint32_t i = 0; i < count; i++)
        if (!stays[i]) {
            append_parts(variant, into[i], i);
            wait_no_more(&variant->graph, i);
        }
    pace_status status = pace_graph_merge_launches(&variant->graph, into);
    for (uint32_t i = 0; status == PACE_OK && i < count; i++)
        if (stays[i]) variant->launches[kept++] = variant->launches[i];
    pace_free(stays);
    return status;
}

pace_status pace_variant_fuse(size_t *fused, pace_variant *variant,
                              pace_status (*find)(uint32_t *into, size_t *fused, pace_variant *variant, void *context),
                              void *context) {
    uint32_t *into = pace_alloc(variant->graph.launches.count + 1, sizeof *into);
    if (!into) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < variant->graph.launches.count; i++) into[i] = i;
    pace_status status = find(into, fused, variant, context);
    if (status == PACE_OK) status = pace_variant_merge(variant, into);
    pace_free(into);
    return status;
}
