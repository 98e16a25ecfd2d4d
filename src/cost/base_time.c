#include "cost/base_time.h"

#include <math.h>

double pace_base_time_s(const pace_base_time *base, const pace_sample *sample) {
    return exp(base->off) * (base->fixed_s + sample->formula_s);
}

enum { ENOUGH = 2000 };

/* The mean distance of ln(time / base) from its mean, which it sets. */
static double unevenness(pace_base_time *base, const pace_sample *samples, const double *times, const uint32_t *picked,
                         size_t count) {
    float off[ENOUGH];
    double sum = 0, apart = 0;
    size_t used = 0;
    for (size_t i = 0, stride = count / ENOUGH + 1; i < count; i += stride) {
        off[used] = (float)log(times[picked[i]] / pace_base_time_s(base, &samples[picked[i]]));
        sum += (double)off[used++];
    }
    base->off = sum / (double)used;
    for (size_t i = 0; i < used; i++) apart += fabs((double)off[i] - base->off);
    return apart / (double)used;
}

pace_base_time pace_base_time_fit(const pace_sample *samples, const double *times, const uint32_t *picked,
                                  size_t count) {
    static const double shortest_s = 1e-7, longest_s = 5e-4, step = 1.1;
    pace_base_time best = {0};
    if (count == 0) return best;
    double least = unevenness(&best, samples, times, picked, count);
    for (double fixed_s = shortest_s; fixed_s < longest_s; fixed_s *= step) {
        pace_base_time base = {.fixed_s = fixed_s};
        double uneven = unevenness(&base, samples, times, picked, count);
        if (uneven < least) least = uneven, best = base;
    }
    return best;
}
