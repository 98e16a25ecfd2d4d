#include "ask/rows/kernel_rates.h"

#include <string.h>

double pace_kernel_row_work(pace_measured_kind kind, const pace_kernel_row *row) {
    const pace_op *op = &row->op;
    if (kind == PACE_MEASURED_FLOP_RATE) return op->flop;
    bool link = op->family == PACE_OP_TRANSFER && !strstr(op->kind, "d2d");
    return link ? op->read_bytes : op->read_bytes + op->write_bytes;
}

double pace_kernel_row_in_unit(const pace_measured_column *measured, const pace_kernel_row *row, double time_s) {
    if (measured->kind == PACE_MEASURED_TIME) return time_s / measured->unit_s;
    return pace_kernel_row_work(measured->kind, row) / time_s / measured->unit_s;
}
