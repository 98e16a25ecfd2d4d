#include "base/interval.h"
#include "base/order.h"

pace_status pace_intervals_add(pace_intervals *set, int64_t start_ns, int64_t end_ns) {
    if (end_ns <= start_ns) return PACE_OK;
    if (set->count) {
        pace_interval *last = &set->items[set->count - 1];
        if (start_ns <= last->end_ns) {
            if (end_ns > last->end_ns) last->end_ns = end_ns;
            return PACE_OK;
        }
    }
    return PACE_PUSH(set, ((pace_interval){start_ns, end_ns}));
}

/* The first interval that ends after `at`. */
static size_t first_after(const pace_intervals *set, int64_t at) {
    size_t low = 0;
    PACE_SEARCH(low, set->count, middle, set->items[middle].end_ns <= at);
    return low;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t pace_intervals_within(const pace_intervals *set, int64_t start_ns, int64_t end_ns) {
    int64_t total = 0;
    for (size_t i = first_after(set, start_ns); i < set->count && set->items[i].start_ns < end_ns; i++)
        total += earlier(set->items[i].end_ns, end_ns) - later(set->items[i].start_ns, start_ns);
    return total;
}

int64_t pace_intervals_common(const pace_intervals *a, const pace_intervals *b, int64_t start_ns, int64_t end_ns) {
    int64_t total = 0;
    size_t i = first_after(a, start_ns), j = first_after(b, start_ns);
    while (i < a->count && j < b->count) {
        int64_t start = later(later(a->items[i].start_ns, b->items[j].start_ns), start_ns);
        int64_t end = earlier(earlier(a->items[i].end_ns, b->items[j].end_ns), end_ns);
        if (start >= end_ns) break;
        if (end > start) total += end - start;
        if (a->items[i].end_ns < b->items[j].end_ns) i++;
        else j++;
    }
    return total;
}
