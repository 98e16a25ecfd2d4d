#include "cost/roofline.h"

double pace_device_peak(const pace_device *device, int element_bytes) {
    switch (element_bytes) {
    case 1: return device->flop_per_s[PACE_FP8] > 0 ? device->flop_per_s[PACE_FP8] : device->flop_per_s[PACE_INT8];
    case 2: return device->flop_per_s[PACE_FP16] > 0 ? device->flop_per_s[PACE_FP16] : device->flop_per_s[PACE_FP32];
    case 8: return device->flop_per_s[PACE_FP64];
    default: return device->flop_per_s[PACE_TF32] > 0 ? device->flop_per_s[PACE_TF32] : device->flop_per_s[PACE_FP32];
    }
}

double pace_roofline_s(const pace_device *device, const pace_op_amount *amount) {
    double peak = pace_device_peak(device, amount->element_bytes), bandwidth = device->memory_bytes_per_s;
    double compute = peak > 0 ? amount->flop / peak : 0, memory = bandwidth > 0 ? amount->bytes / bandwidth : 0;
    return compute > memory ? compute : memory;
}
