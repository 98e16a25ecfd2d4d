#include "base/median.h"
#include "base/autocorrelation.h"
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

/* `as_one` values count as one: the number of those below the median varies by its root as much. */
static pace_median_interval interval_of(double *values, size_t count, double level, double as_one) {
    if (count == 0) return (pace_median_interval){NAN, NAN, NAN};
    double middle = pace_median(values, count);
    size_t k = order_of(count, (1 - level) / 2);
    if (k == 0) k = 1;
    double wider = ((double)(count + 1) / 2 - (double)k) * sqrt(as_one);
    if (as_one > 1) k = (size_t)fmax(1, floor((double)(count + 1) / 2 - wider));
    return (pace_median_interval){middle, values[k - 1], values[count - k]};
}

pace_median_interval pace_median_interval_of(double *values, size_t count, double level) {
    return interval_of(values, count, level, 1);
}

pace_status pace_series_median_of(pace_median_interval *out, double *values, size_t count, double level) {
    double correlation;
    PACE_TRY(pace_autocorrelation_of(&correlation, values, count, NULL, 0));
    *out = interval_of(values, count, level, pace_values_as_one(count, correlation));
    return PACE_OK;
}
