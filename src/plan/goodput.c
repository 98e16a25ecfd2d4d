#include "plan/goodput.h"

#include <math.h>

/* Work of one interval over the time it takes until it and its checkpoint are done without a failure between. */
double pace_goodput_share(const pace_failures *failures, double devices, double interval_s) {
    double mean_s = failures->between_failures_s / devices;
    double taken_s = mean_s * exp(failures->restart_s / mean_s) * expm1((interval_s + failures->save_s) / mean_s);
    return interval_s / taken_s;
}

pace_goodput pace_goodput_of(const pace_failures *failures, double devices) {
    double mean_s = failures->between_failures_s / devices, save_s = failures->save_s;
    double root = sqrt(save_s / (2 * mean_s));
    pace_goodput out = {.between_failures_s = mean_s, .interval_s = mean_s};
    if (save_s < 2 * mean_s) out.interval_s = 2 * mean_s * root * (1 + root / 3 + root * root / 9) - save_s;
    out.share = pace_goodput_share(failures, devices, out.interval_s);
    return out;
}
