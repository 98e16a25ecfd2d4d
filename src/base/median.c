#include "base/median.h"
#include "base/sort.h"

#include <math.h>

/* The largest k with P(Binomial(count, 1/2) < k) <= tail; 0 when there is none. */
static size_t order_of(size_t count, double tail) {
    double term = -(double)count * log(2), below = 0;
    size_t k = 0;
    for (; k < count / 2; k++) {
        below += exp(term);
        if (below > tail) break;
        term += log((double)(count - k)) - log((double)k + 1);
    }
    return k;
}

pace_median_interval pace_median_interval_of(double *values, size_t count, double level) {
    if (count == 0) return (pace_median_interval){NAN, NAN, NAN};
    double middle = pace_median(values, count);
    size_t k = order_of(count, (1 - level) / 2);
    if (k == 0) k = 1;
    return (pace_median_interval){middle, values[k - 1], values[count - k]};
}
