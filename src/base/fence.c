#include "base/fence.h"

double pace_quantile_ns(const int64_t *sorted, size_t count, double q) {
    double place = q * (double)(count - 1);
    size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
    return (double)sorted[low] + (place - (double)low) * (double)(sorted[high] - sorted[low]);
}

void pace_fence(size_t *low, size_t *high, const int64_t *sorted, size_t count) {
    double q1 = pace_quantile_ns(sorted, count, 0.25), q3 = pace_quantile_ns(sorted, count, 0.75);
    double reach = 1.5 * (q3 - q1);
    *low = 0;
    *high = count;
    while ((double)sorted[*low] < q1 - reach) ++*low;
    while ((double)sorted[*high - 1] > q3 + reach) --*high;
}
