#include "insight/tables/duration_bins.h"
#include "base/order.h"

/* The first bin begins at 0, the last has no end. */
static void set_ends(pace_duration_bins *bins) {
    static const int64_t steps[] = {1, 2, 5};
    int64_t power = 100;
    for (size_t i = 0; i < PACE_DURATION_BINS; i++) {
        bins->items[i].from_ns = i ? bins->items[i - 1].to_ns : 0;
        bins->items[i].to_ns = i + 1 < PACE_DURATION_BINS ? power * steps[i % 3] : INT64_MAX;
        if (i % 3 == 2) power *= 10;
    }
}

static pace_duration_bin *bin_of(pace_duration_bins *bins, int64_t duration_ns) {
    size_t low = 0;
    PACE_SEARCH(low, PACE_DURATION_BINS - 1, middle, duration_ns >= bins->items[middle].to_ns);
    return &bins->items[low];
}

pace_duration_bins pace_duration_bins_of(const pace_rank *rank, const pace_work_choice *choice) {
    pace_duration_bins bins = {.first = PACE_DURATION_BINS};
    set_ends(&bins);
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        if (rank->step.kind[item->task] != PACE_TASK_KERNEL || !pace_work_is_chosen(item, choice)) continue;
        int64_t duration_ns = item->end_ns - item->start_ns;
        pace_duration_bin *bin = bin_of(&bins, duration_ns);
        bin->kernels++;
        bin->time_ns += duration_ns;
        bins.kernels++;
        bins.time_ns += duration_ns;
    }
    for (size_t i = 0; i < PACE_DURATION_BINS; i++) {
        if (bins.items[i].kernels == 0) continue;
        if (bins.first == PACE_DURATION_BINS) bins.first = i;
        bins.count = i + 1 - bins.first;
    }
    return bins;
}
