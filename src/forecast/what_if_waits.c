/* What the host need not wait for: copies of pageable memory that pinned memory would let run, and synchronisations. */
#include "forecast/what_ifs.h"

#include <string.h>

static bool blocks(const pace_graph_node *node) {
    return node->kind == PACE_TASK_CALL && node->waits_launch != PACE_NO_LAUNCH;
}

static const char pageable[] = "h2d_pageable", pinned[] = "h2d_pinned"; /* kinds of operations (step/op.h) */

static bool is_pageable(const pace_variant *variant, uint32_t launch) {
    const pace_op *op = pace_variant_op(variant, launch);
    return op && op->family == PACE_OP_TRANSFER && strcmp(op->kind, pageable) == 0;
}

static pace_status pin(pace_variant *variant, uint32_t launch) {
    pace_op op = *pace_variant_op(variant, launch);
    memcpy(op.kind, pinned, sizeof pinned);
    return pace_variant_set_op(variant, launch, &op);
}

/* Copies from pageable memory come from pinned memory, as fast where the device is not known, and calls that waited for
 * them do not. Adds the copies to *changed. */
static pace_status pin_copies(size_t *changed, pace_variant *variant, bool known_device) {
    pace_graph *graph = &variant->graph;
    PACE_ITEMS (pace_graph_node, node, &graph->nodes) {
        bool waits = node->waits_launch != PACE_NO_LAUNCH; /* a recorded call, or a model's operator */
        if (waits && is_pageable(variant, node->waits_launch)) node->waits_launch = PACE_NO_LAUNCH;
    }
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        if (!is_pageable(variant, i)) continue;
        if (known_device) PACE_TRY(pin(variant, i));
        ++*changed;
    }
    return PACE_OK;
}

static pace_status apply_pinned(pace_editing *e, size_t *changed) {
    const pace_device *device = e->scenario->device ? e->scenario->device : e->forecast->device;
    for (size_t i = 0; i < e->count; i++) PACE_TRY(pin_copies(changed, &e->variants[i], device != NULL));
    return PACE_OK;
}

/* The call, or something around it, has the name. */
static bool is_named(const pace_graph *graph, uint32_t node, const regex_t *names) {
    for (; node != PACE_NO_NODE; node = graph->nodes.items[node].parent)
        if (regexec(names, pace_names_text(&graph->names, graph->nodes.items[node].name), 0, NULL, 0) == 0) return true;
    return false;
}

/* Calls that wait for the device and match, or stand within what does, wait for nothing. Returns how many. */
static size_t drop_calls(pace_variant *variant, const regex_t *names) {
    pace_graph *graph = &variant->graph;
    size_t count = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        if (!blocks(&graph->nodes.items[i]) || !is_named(graph, i, names)) continue;
        graph->nodes.items[i].waits_launch = PACE_NO_LAUNCH;
        count++;
    }
    return count;
}

static pace_status apply_sync(pace_editing *e, size_t *changed) {
    const pace_scenario_value *named;
    for (size_t i = 0; i < e->count; i++)
        for (size_t k = 0; (named = pace_scenario_value_at(e->scenario, "drop_sync", k)); k++)
            *changed += drop_calls(&e->variants[i], &named->name);
    return PACE_OK;
}

const pace_what_if pace_if_pinned = {
    .option = PACE_WHAT_IF_FLAG("pinned", "copy from pinned instead of pageable memory"),
    .acts_on = 1U << PACE_ADVICE_COPY | 1U << PACE_ADVICE_HOST | 1U << PACE_ADVICE_INPUT,
    .label = "pinned copies",
    .turn = PACE_TURN_SIZE,
    .apply = apply_pinned,
    .edits_kernels = true,
    .idle = "no copy is known to come from pageable memory",
    .needs_change = true,
    .assumption =
        "Pinned: copies gain what pinned memory gains over pageable memory on the device (catalog/costs.yaml).",
};

const pace_what_if pace_if_drop_sync = {
    .option = PACE_WHAT_IF_VALUES("drop_sync", "REGEX",
                                  "remove the wait of calls that match, or lie within what matches", NULL, " step "),
    .acts_on = 1U << PACE_ADVICE_HOST | 1U << PACE_ADVICE_COPY,
    .label = "without waiting in %s",
    .turn = PACE_TURN_COUNT,
    .apply = apply_sync,
    .idle = "no call that waits for the device has a matching name or stands within one",
    .needs_change = true,
    .assumption = "Dropped waits: what the host does with the results costs nothing, and needs none of them.",
};
