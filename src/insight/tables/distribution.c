#include "insight/tables/distribution.h"

#include "base/sort.h"

#include <math.h>

static double quantile(const int64_t *sorted, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    double low = (double)sorted[below], high = (double)sorted[below + 1 < count ? below + 1 : below];
    return low + (place - (double)below) * (high - low);
}

pace_distribution pace_distribution_of(int64_t *durations, int64_t *scratch, size_t count) {
    pace_distribution d = {.count = count, .median_ns = NAN, .p90_ns = NAN, .std_ns = NAN};
    if (count == 0) return d;
    pace_sort_ns(durations, scratch, count);
    d.least_ns = durations[0];
    d.most_ns = durations[count - 1];
    d.median_ns = quantile(durations, count, 0.5);
    d.p90_ns = quantile(durations, count, 0.9);
    for (size_t i = 0; i < count; i++) d.sum_ns += durations[i];
    double mean = (double)d.sum_ns / (double)count, squares = 0;
    for (size_t i = 0; i < count; i++) squares += ((double)durations[i] - mean) * ((double)durations[i] - mean);
    if (count > 1) d.std_ns = sqrt(squares / (double)(count - 1));
    return d;
}
