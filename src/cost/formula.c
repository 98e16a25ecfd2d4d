#include "cost/formula.h"

#include <math.h>

static const pace_formula formulas[PACE_OP_FAMILIES] = {
    [PACE_OP_GEMM] = pace_formula_gemm,
    [PACE_OP_CONVOLUTION] = pace_formula_convolution,
    [PACE_OP_ATTENTION] = pace_formula_attention,
    [PACE_OP_EMBEDDING] = pace_formula_embedding,
    [PACE_OP_NORMALIZATION] = pace_formula_stream,
    [PACE_OP_SOFTMAX] = pace_formula_stream,
    [PACE_OP_REDUCTION] = pace_formula_stream,
    [PACE_OP_ELEMENTWISE] = pace_formula_stream,
    [PACE_OP_COPY] = pace_formula_stream,
    [PACE_OP_TRANSPOSE] = pace_formula_stream,
    [PACE_OP_TRIL] = pace_formula_stream,
    [PACE_OP_TRANSFER] = pace_formula_transfer,
    [PACE_OP_OPTIMIZER] = pace_formula_stream,
    [PACE_OP_LOSS] = pace_formula_stream,
    [PACE_OP_POOLING] = pace_formula_stream,
    [PACE_OP_OTHER] = pace_formula_stream,
};

pace_formula pace_formula_of(pace_op_family family) {
    return (unsigned)family < PACE_OP_FAMILIES ? formulas[family] : NULL;
}

/* Partly hidden, the sum is that of the sides of a right angle, which was better than the longest of them, than their
 * sum and than powers between for FP32 products on four devices (NeuSight) and BF16 ones on two (aiconfigurator). */
double pace_cost_parts_s(const pace_cost_parts *parts) {
    double longest = parts->compute_s;
    if (parts->partly_hidden) return parts->fixed_s + hypot(hypot(longest, parts->memory_s), parts->chain_s);
    if (parts->memory_s > longest) longest = parts->memory_s;
    if (parts->l2_s > longest) longest = parts->l2_s;
    return parts->fixed_s + parts->layout_s + hypot(longest, parts->chain_s);
}

const double pace_usual_compute = 0.87, pace_usual_memory = 0.86;

double pace_device_sustained_flop_per_s(const pace_device *device, pace_precision precision) {
    if ((unsigned)precision >= PACE_PRECISIONS) return 0;
    precision = pace_device_rated_as(device, precision);
    double measured = device->achievable_flop_per_s[precision];
    return measured > 0 ? measured : pace_usual_compute * device->flop_per_s[precision];
}

double pace_device_sustained_bytes_per_s(const pace_device *device) {
    double measured = device->achievable_bytes_per_s;
    return measured > 0 ? measured : pace_usual_memory * device->memory_bytes_per_s;
}
