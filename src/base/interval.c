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

bool pace_intervals_hold(const pace_intervals *set, int64_t at_ns) {
    return !set || pace_intervals_within(set, at_ns, at_ns + 1) > 0;
}

int64_t pace_intervals_within(const pace_intervals *set, int64_t start_ns, int64_t end_ns) {
    int64_t total = 0;
    for (size_t i = first_after(set, start_ns); i < set->count && set->items[i].start_ns < end_ns; i++)
        total += earlier(set->items[i].end_ns, end_ns) - later(set->items[i].start_ns, start_ns);
    return total;
}

int64_t pace_intervals_joined(const pace_intervals *const *sets, size_t count, int64_t start_ns, int64_t end_ns) {
    const pace_intervals *filled[4];
    size_t next[4], used = 0;
    int64_t total = 0;
    for (size_t s = 0; s < count; s++) {
        next[used] = first_after(sets[s], start_ns);
        if (next[used] < sets[s]->count && sets[s]->items[next[used]].start_ns < end_ns) filled[used++] = sets[s];
    }
    if (used == 1) return pace_intervals_within(filled[0], start_ns, end_ns);
    for (int64_t at = start_ns; at < end_ns;) { /* all before `at` is counted */
        const pace_interval *first = NULL;
        for (size_t s = 0; s < used; s++) {
            while (next[s] < filled[s]->count && filled[s]->items[next[s]].end_ns <= at) next[s]++;
            if (next[s] < filled[s]->count && (!first || filled[s]->items[next[s]].start_ns < first->start_ns))
                first = &filled[s]->items[next[s]];
        }
        if (!first || first->start_ns >= end_ns) break;
        total += earlier(first->end_ns, end_ns) - later(first->start_ns, at);
        at = first->end_ns;
    }
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
