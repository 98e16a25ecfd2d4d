#include "forecast/what_ifs.h"
#include "step/op_edit.h"

#include <stddef.h>

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

/* A recorded kernel's width is known, and not which of two formats of that width it computes in: it stays as it is. */
static bool may_be_there(const pace_variant *variant, uint32_t launch, const pace_op *now, const pace_op *changed) {
    return variant->graph.launches.items[launch].duration_ns >= 0 && now->element_bytes == 2 &&
           changed->element_bytes == 2;
}

pace_status pace_what_if_precision(size_t *changes, pace_variant *variant, pace_precision precision) {
    int present = present_bytes(&variant->graph);
    for (uint32_t i = 0; i < variant->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(variant, i);
        if (!op || variant->graph.launches.items[i].kind != PACE_TASK_KERNEL) continue;
        pace_op changed = *op;
        pace_op_set_precision(&changed, precision, present);
        if (pace_op_equal(&changed, op) || may_be_there(variant, i, op, &changed)) continue;
        PACE_TRY(pace_variant_set_op(variant, i, &changed));
        ++*changes;
    }
    return PACE_OK;
}

static const struct {
    const char *name;
    pace_precision precision;
} known[] = {{"fp32", PACE_FP32}, {"tf32", PACE_TF32}, {"fp16", PACE_FP16}, {"bf16", PACE_BF16}, {"fp8", PACE_FP8}};
const pace_word_list pace_what_if_precisions = {&known->name, PACE_COUNT(known), sizeof *known};

static pace_status parse(pace_scenario *scenario, const char *text) {
    int number;
    PACE_TRY(pace_word_read(&number, "precision", &pace_what_if_precisions, text));
    scenario->has_precision = true;
    scenario->precision = known[number].precision;
    return PACE_OK;
}

static bool asked(const pace_scenario *scenario) { return scenario->has_precision; }

static pace_status apply(pace_editing *e, size_t *changes) {
    const pace_device *device = e->scenario->device ? e->scenario->device : e->forecast->device;
    if (device && pace_device_check_precision(device, e->scenario->precision) != PACE_OK)
        return pace_fail_in(PACE_E_USAGE, "precision");
    for (size_t i = 0; i < e->count; i++)
        PACE_TRY(pace_what_if_precision(changes, &e->variants[i], e->scenario->precision));
    return PACE_OK;
}

const pace_what_if pace_if_precision = {
    .option = PACE_WHAT_IF_VALUES("precision", "NAME", "compute matrices in fp32, tf32, fp16, bf16 or fp8", "precision",
                                  " step "),
    .acts_on = 1U << PACE_ADVICE_COMPUTE | 1U << PACE_ADVICE_MEMORY,
    .label = "precision %s",
    .alone = true,
    .parse = parse,
    .asked = asked,
    .turn = PACE_TURN_SIZE,
    .apply = apply,
    .edits_kernels = true,
    .needs_sizes = true,
    .changed = offsetof(pace_forecast_edits, other_precision),
    .idle = "nothing of known size computes in another precision now",
    .assumption = "Precision: casts, master weights, exchanges and kernels of unknown size do not change.",
};
