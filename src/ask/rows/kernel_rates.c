#include "ask/rows/kernel_rates.h"

#include <string.h>

double pace_kernel_rate_work(pace_measured_kind kind, const pace_op *op) {
    if (kind == PACE_MEASURED_FLOP_RATE) return op->flop;
    bool link = op->family == PACE_OP_TRANSFER && !strstr(op->kind, "d2d");
    return link ? op->read_bytes : op->read_bytes + op->write_bytes;
}

double pace_kernel_time_in_unit(const pace_measured_column *measured, const pace_op *op, double time_s) {
    if (measured->kind == PACE_MEASURED_TIME) return time_s / measured->unit_s;
    return pace_kernel_rate_work(measured->kind, op) / time_s / measured->unit_s;
}
