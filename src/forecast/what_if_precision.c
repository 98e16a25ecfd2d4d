#include "forecast/what_ifs.h"
#include "step/op_edit.h"

#include <string.h>

/* The width in which most of the matrix arithmetic is done now. */
static int present_bytes(const pace_graph *graph) {
    double flop[9] = {0};
    int most = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        uint32_t number = graph->launches.items[i].op;
        const pace_op *op = number == PACE_NO_OP ? NULL : &graph->ops.items[number];
        if (!op || !pace_op_is_matrix(op->family) || op->element_bytes < 1 || op->element_bytes > 8) continue;
        flop[op->element_bytes] += op->flop;
        if (flop[op->element_bytes] > flop[most]) most = op->element_bytes;
    }
    return most;
}

pace_status pace_what_if_precision(pace_variant *variant, pace_precision precision) {
    int present = present_bytes(&variant->graph);
    for (uint32_t i = 0; i < variant->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(variant, i);
        if (!op || variant->graph.launches.items[i].kind != PACE_TASK_KERNEL) continue;
        pace_op changed = *op;
        pace_op_set_precision(&changed, precision, present);
        if (!pace_op_equal(&changed, op)) PACE_TRY(pace_variant_set_op(variant, i, &changed));
    }
    return PACE_OK;
}

/* --- the row --------------------------------------------------------------------------------------------------- */

static pace_status parse(pace_scenario *scenario, const char *text) {
    static const pace_precision known[] = {PACE_FP32, PACE_TF32, PACE_FP16, PACE_BF16, PACE_FP8};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, pace_precision_key(known[i])) != 0) continue;
        scenario->has_precision = true;
        scenario->precision = known[i];
        return PACE_OK;
    }
    return pace_fail(PACE_E_USAGE, "precision: expected fp32, tf32, fp16, bf16 or fp8, found '%.80s'", text);
}

static bool asked(const pace_scenario *scenario) { return scenario->has_precision; }

static pace_status apply(pace_editing *e) {
    const pace_device *device = e->scenario->device ? e->scenario->device : e->forecast->device;
    if (device) PACE_TRY(pace_device_check_precision(device, e->scenario->precision));
    for (size_t i = 0; i < e->count; i++) PACE_TRY(pace_what_if_precision(&e->variants[i], e->scenario->precision));
    return PACE_OK;
}

const pace_what_if pace_if_precision = {
    .name = "precision",
    .argument = "NAME",
    .help = "matrices were fp32, tf32, fp16, bf16 or fp8",
    .label = "precision %s",
    .alone = true,
    .parse = parse,
    .asked = asked,
    .turn = PACE_TURN_SIZE,
    .apply = apply,
    .edits_kernels = true,
    .needs_sizes = true,
    .assumption = "Precision: casts, master weights, exchanges and kernels of unknown size do not change.",
};
