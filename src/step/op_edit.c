#include "step/op_edit.h"

#include <string.h>

bool pace_op_is_matrix(pace_op_family family) {
    return family == PACE_OP_GEMM || family == PACE_OP_CONVOLUTION || family == PACE_OP_ATTENTION;
}

static double ratio(double after, double before, double otherwise) { return before > 0 ? after / before : otherwise; }

/* A dense gradient of a table is as large as the table, however many rows are looked up. */
static bool writes_table(const pace_op *op) {
    return op->family == PACE_OP_EMBEDDING && op->pass != PACE_PASS_FORWARD && strcmp(op->kind, "dense") == 0;
}

void pace_op_scale_size(pace_op *op, unsigned which, double factor) {
    pace_op before = *op, after = *op;
    after.size[which] *= factor;
    bool known = pace_op_complete(&before) && pace_op_complete(&after);
    op->size[which] *= factor;
    op->flop *= known ? ratio(after.flop, before.flop, factor) : factor;
    op->read_bytes *= known ? ratio(after.read_bytes, before.read_bytes, factor) : factor;
    if (!writes_table(op)) op->write_bytes *= known ? ratio(after.write_bytes, before.write_bytes, factor) : factor;
}

unsigned pace_op_sample_size(const pace_op *op) { return op->family == PACE_OP_GEMM && op->size[0] <= 1 ? 1 : 0; }

/* Bytes of an element of a precision as tensors are stored. */
static int precision_bytes(pace_precision precision) {
    switch (precision) {
    case PACE_FP64: return 8;
    case PACE_FP16:
    case PACE_BF16: return 2;
    case PACE_FP8:
    case PACE_INT8: return 1;
    default: return 4;
    }
}

static void set_width(pace_op *op, int bytes) {
    if (op->element_bytes <= 0 || op->element_bytes == bytes) return;
    double narrower = (double)bytes / op->element_bytes;
    op->element_bytes = bytes;
    op->read_bytes *= narrower;
    op->write_bytes *= narrower;
}

void pace_op_set_precision(pace_op *op, pace_precision precision, int present_bytes) {
    int bytes = precision_bytes(precision);
    if (pace_op_is_matrix(op->family)) {
        op->precision = precision;
        set_width(op, bytes);
        return;
    }
    if (op->family == PACE_OP_OPTIMIZER || op->family == PACE_OP_TRANSFER) return;
    if (op->element_bytes != present_bytes || op->element_bytes == 1) return;
    set_width(op, bytes < 2 ? 2 : bytes);
}

pace_op pace_op_fuse(const pace_op *ops, unsigned count) {
    pace_op fused = ops[0];
    for (unsigned i = 1; i < count; i++) {
        double between = ops[i - 1].write_bytes < ops[i].read_bytes ? ops[i - 1].write_bytes : ops[i].read_bytes;
        fused.flop += ops[i].flop;
        fused.read_bytes += ops[i].read_bytes - between;
        fused.write_bytes += ops[i].write_bytes - ops[i - 1].write_bytes;
    }
    double element = fused.element_bytes > 0 && fused.size[0] > 0 ? fused.element_bytes * fused.size[0] : 0;
    if (count > 1 && element > 0) {
        fused.size[1] = fused.read_bytes / element;
        fused.size[2] = fused.write_bytes / element;
    }
    return fused;
}
