#include "insight/pair_calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

pace_status pace_pair_calibration_add(pace_pair_calibration *calibration, const pace_device *from,
                                      const pace_device *to, const double moved_ns[PACE_OP_FAMILIES],
                                      const double there_ns[PACE_OP_FAMILIES]) {
    double moved = 0, there = 0;
    if (strcmp(from->name, to->name) == 0)
        return pace_fail(PACE_E_INPUT, "--calibrate: expected traces of two devices, found %s twice", from->name);
    if (calibration->from[0] && !pace_pair_calibration_applies(calibration, from, to))
        return pace_fail(PACE_E_INPUT, "--calibrate: expected another pair of %s and %s, found %s and %s",
                         calibration->from, calibration->to, from->name, to->name);
    for (int f = 0; f < PACE_OP_FAMILIES; f++) {
        moved += moved_ns[f];
        there += there_ns[f];
    }
    if (!(moved > 0) || !(there > 0))
        return pace_fail(PACE_E_INPUT, "--calibrate: expected kernels in both traces of %s and %s, found none",
                         from->name, to->name);
    for (int f = 0; f < PACE_OP_FAMILIES; f++) {
        if (!(moved_ns[f] > 0) || !(there_ns[f] > 0)) continue;
        calibration->log_sum[f] += log(there_ns[f] / moved_ns[f]);
        calibration->pairs[f]++;
    }
    snprintf(calibration->from, sizeof calibration->from, "%s", from->name);
    snprintf(calibration->to, sizeof calibration->to, "%s", to->name);
    return PACE_OK;
}

bool pace_pair_calibration_applies(const pace_pair_calibration *calibration, const pace_device *from,
                                   const pace_device *to) {
    return calibration && from && to && strcmp(calibration->from, from->name) == 0 &&
           strcmp(calibration->to, to->name) == 0;
}

double pace_pair_calibration_factor(const pace_pair_calibration *calibration, pace_op_family family) {
    return exp(calibration->log_sum[family] / (calibration->pairs[family] + 1));
}

double pace_pair_calibration_spread(const pace_pair_calibration *calibration, pace_op_family family, double spread) {
    return spread / sqrt(calibration->pairs[family] + 1.0);
}
