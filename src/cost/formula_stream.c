/*
 * Kernels that stream: each byte goes from or to the memory once, at the rate the family sustains, and the few
 * operations per element go at the vector rate (Lin et al. 2022, the rooflines of element-wise operations; concat and
 * copies at the best rate measured). Data that just left the cache are not counted on, but for CPUs, whose last cache
 * holds what the operator before has written.
 */
#include "cost/formula.h"

bool pace_formula_stream(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    double bytes = op->read_bytes + op->write_bytes, vector = pace_device_rate(where->device, PACE_FP32);
    if (!(bytes > 0) || !(where->memory_bytes_per_s > 0)) return false;
    parts->fixed_s = where->figure->fixed_s;
    bool cached = where->device->is_cpu && bytes <= where->device->l2_bytes;
    parts->memory_s = bytes / (where->figure->memory * (cached ? where->l2_bytes_per_s : where->memory_bytes_per_s));
    if (vector > 0) parts->compute_s = op->flop / (where->figure->compute * vector);
    return true;
}
