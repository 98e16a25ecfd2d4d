#include "base/normal_mixture.h"
#include "base/estimate.h"
#include "base/numbers.h"

enum { HALVINGS = 40 };

static double share_below(const pace_normal_part *part, double x) {
    return erfc((part->mean - x) / part->deviation * M_SQRT1_2) / 2;
}

double pace_mixture_median(const pace_normal_part *parts, size_t count) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) low = pace_least(low, parts[i].mean), high = pace_most(high, parts[i].mean);
    for (int halving = 0; halving < HALVINGS && low < high; halving++) {
        double middle = (low + high) / 2, below = 0;
        for (size_t i = 0; i < count; i++) below += parts[i].weight * share_below(&parts[i], middle);
        if (below < 0.5) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

double pace_mixture_spread(const pace_normal_part *parts, size_t count, double middle) {
    double low = 0, high = 0;
    for (size_t i = 0; i < count; i++)
        high = pace_most(high, fabs(parts[i].mean - middle) + PACE_NORMAL_90 * parts[i].deviation);
    for (int halving = 0; halving < HALVINGS; halving++) {
        double reach = (low + high) / 2, within = 0;
        for (size_t i = 0; i < count; i++)
            within +=
                parts[i].weight * (share_below(&parts[i], middle + reach) - share_below(&parts[i], middle - reach));
        if (within < 0.9) low = reach;
        else high = reach;
    }
    return (low + high) / 2 / PACE_NORMAL_90;
}
