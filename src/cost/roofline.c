#include "cost/roofline.h"

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
