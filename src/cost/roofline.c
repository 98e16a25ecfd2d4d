#include "cost/roofline.h"

#include <math.h>
#include <string.h>

static double first_known(const pace_device *device, pace_precision a, pace_precision b, pace_precision c) {
    if (device->flop_per_s[a] > 0) return device->flop_per_s[a];
    return device->flop_per_s[b] > 0 ? device->flop_per_s[b] : device->flop_per_s[c];
}

double pace_device_peak(const pace_device *device, int element_bytes) {
    switch (element_bytes) {
    case 1: return first_known(device, PACE_FP8, PACE_INT8, PACE_INT8);
    case 2: return first_known(device, PACE_FP16, PACE_BF16, PACE_FP32);
    case 8: return device->flop_per_s[PACE_FP64];
    default: return first_known(device, PACE_TF32, PACE_FP32_MATRIX, PACE_FP32);
    }
}

double pace_roofline_s(const pace_device *device, const pace_op_amount *amount) {
    double peak = pace_device_peak(device, amount->element_bytes), bandwidth = device->memory_bytes_per_s;
    double compute = peak > 0 ? amount->flop / peak : 0, memory = bandwidth > 0 ? amount->bytes / bandwidth : 0;
    return compute > memory ? compute : memory;
}

/* --- what nothing beats ------------------------------------------------------------------------------------------- */

/* The fastest units that may multiply such operands. Single precision may be in TF32, as frameworks allow, on 16 bits
 * in memory in these, and on accelerators whose compilers take BF16 for it there is no telling; boards for games sum in
 * half precision at the units' own rate. */
static double most_flop_per_s(const pace_device *device, const pace_op *op) {
    pace_precision precision = op->precision;
    bool gpu = device->generation > 0 || strcmp(device->vendor, "AMD") == 0;
    bool single = precision == PACE_FP32 || precision == PACE_FP32_MATRIX || precision == PACE_TF32;
    if (device->is_cpu || (unsigned)precision >= PACE_PRECISIONS || precision == PACE_FP64) return 0;
    if (!(device->flop_per_s[precision] > 0) || (single && !gpu)) return 0;
    double rate = pace_device_unit_rate(device, precision);
    if (!single) return rate;
    if (device->flop_per_s[PACE_TF32] > 0) rate = fmax(rate, pace_device_unit_rate(device, PACE_TF32));
    return fmax(rate, pace_device_peak(device, op->element_bytes));
}

/* Attention's backward pass counts the scores that it forms anew; a kernel may have kept them. */
static double least_flop(const pace_op *op) {
    enum { R = 5, S };
    double flop = op->flop;
    if (op->family == PACE_OP_CONVOLUTION) return flop / fmax(op->size[R] * op->size[S], 1);
    if (op->family == PACE_OP_ATTENTION) return op->pass == PACE_PASS_FORWARD ? flop : flop * 4 / 5;
    return op->family == PACE_OP_GEMM ? flop : 0;
}

double pace_roofline_least_flop_s(const pace_device *device, const pace_op *op, double clock) {
    double rate = most_flop_per_s(device, op);
    return rate > 0 ? least_flop(op) / (rate * clock) : 0;
}

double pace_roofline_least_s(const pace_device *device, const pace_op *op, double clock) {
    bool hits = op->family == PACE_OP_EMBEDDING; /* rows are looked up more than once */
    bool known = device->generation > 0 && device->l2_bytes > 0 && device->memory_bytes_per_s > 0;
    double bytes = op->read_bytes + op->write_bytes - 2 * device->l2_bytes;
    double memory_s = known && !hits && op->family != PACE_OP_TRANSFER ? bytes / device->memory_bytes_per_s : 0;
    return fmax(pace_roofline_least_flop_s(device, op, clock), fmax(memory_s, 0));
}
