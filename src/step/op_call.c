#include "step/op_call.h"

static pace_precision precision_of(int element_bytes) {
    return element_bytes == 8 ? PACE_FP64 : element_bytes == 2 ? PACE_FP16 : element_bytes == 1 ? PACE_FP8 : PACE_FP32;
}

static int element_bytes_of(const pace_op_shapes *shapes) {
    for (unsigned i = 0; i < shapes->count; i++)
        if (shapes->rank[i] && shapes->element_bytes[i]) return shapes->element_bytes[i];
    return 0;
}

bool pace_op_of_call(pace_op *out, const char *name, const pace_op_shapes *shapes) {
    double flop, bytes;
    pace_op op = {0};
    bool known = pace_op_work(name, shapes, &flop, &bytes, &op.family);
    op.element_bytes = shapes ? element_bytes_of(shapes) : 0;
    op.precision = precision_of(op.element_bytes);
    op.flop = flop;
    op.read_bytes = bytes;
    *out = op;
    return known;
}
