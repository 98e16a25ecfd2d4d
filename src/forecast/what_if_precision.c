#include "forecast/what_ifs.h"
#include "step/op_edit.h"

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
