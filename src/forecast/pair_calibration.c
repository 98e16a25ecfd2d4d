#include "forecast/pair_calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_family(pace_pair_sums *sums, const pace_pair_times *moved, const pace_pair_times *there) {
    if (!(moved->ns > 0) || !(there->ns > 0)) return;
    double s = moved->start_ns / moved->ns, q = log(there->ns / moved->ns);
    sums->start_start += s * s;
    sums->start_work += s * (1 - s);
    sums->work_work += (1 - s) * (1 - s);
    sums->start_q += s * q;
    sums->work_q += (1 - s) * q;
    sums->pairs++;
}

static double sum_of(const pace_pair_times times[PACE_OP_FAMILIES]) {
    double sum = 0;
    for (int f = 0; f < PACE_OP_FAMILIES; f++) sum += times[f].ns;
    return sum;
}

pace_status pace_pair_calibration_add(pace_pair_calibration *calibration, const pace_device *from,
                                      const pace_device *to, const pace_pair_times moved[PACE_OP_FAMILIES],
                                      const pace_pair_times there[PACE_OP_FAMILIES]) {
    if (strcmp(from->name, to->name) == 0)
        return pace_fail(PACE_E_INPUT, "calibrate: expected traces of two devices, found %s twice", from->name);
    if (calibration->from[0] && !pace_pair_calibration_applies(calibration, from, to))
        return pace_fail(PACE_E_INPUT, "calibrate: expected another pair of %s and %s, found %s and %s",
                         calibration->from, calibration->to, from->name, to->name);
    if (!(sum_of(moved) > 0) || !(sum_of(there) > 0))
        return pace_fail(PACE_E_INPUT, "calibrate: expected kernels in both traces of %s and %s, found none",
                         from->name, to->name);
    for (int f = 0; f < PACE_OP_FAMILIES; f++) add_family(&calibration->of[f], &moved[f], &there[f]);
    snprintf(calibration->from, sizeof calibration->from, "%s", from->name);
    snprintf(calibration->to, sizeof calibration->to, "%s", to->name);
    return PACE_OK;
}

bool pace_pair_calibration_applies(const pace_pair_calibration *calibration, const pace_device *from,
                                   const pace_device *to) {
    return calibration && from && to && strcmp(calibration->from, from->name) == 0 &&
           strcmp(calibration->to, to->name) == 0;
}

/* g (I + X'X)^-1 h of two dimensions, g = (start, work). */
static double through_inverse(const pace_pair_sums *sums, const double g[2], const double h[2]) {
    double a = 1 + sums->start_start, b = sums->start_work, d = 1 + sums->work_work;
    return (g[0] * (d * h[0] - b * h[1]) + g[1] * (a * h[1] - b * h[0])) / (a * d - b * b);
}

double pace_pair_factor(const pace_pair_sums *sums, double start_share) {
    const double g[2] = {start_share, 1 - start_share}, q[2] = {sums->start_q, sums->work_q};
    return exp(through_inverse(sums, g, q));
}

double pace_pair_spread(const pace_pair_sums *sums, double start_share, double spread) {
    const double g[2] = {start_share, 1 - start_share};
    return spread * sqrt(through_inverse(sums, g, g) / (g[0] * g[0] + g[1] * g[1]));
}
