#include "fleet/covered.h"

#include <math.h>
#include <string.h>

/* A stretch among so many would have to move too many of them. */
enum { MOST_TO_MOVE = 8192 };

/* The first stretch that ends at `from_s` or later. In files that are in order it is the last one, or none. */
static size_t first_reaching(const pace_covered *covered, double from_s) {
    size_t low = 0, high = covered->count;
    if (high && covered->items[high - 1].from_s <= from_s)
        return covered->items[high - 1].to_s < from_s ? high : high - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (covered->items[middle].to_s < from_s) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Makes room for one stretch in place of those from `first` up to `behind`. */
static pace_status replace(pace_covered *covered, size_t first, size_t behind, pace_stretch stretch) {
    size_t moved = covered->count - behind;
    if (first == behind && moved > MOST_TO_MOVE)
        return pace_fail(PACE_E_LIMIT,
                         "expected values of a counter in the order of their times, found more than %d "
                         "stretches of time in no order: sort the rows by time",
                         MOST_TO_MOVE);
    if (first == behind) PACE_TRY(PACE_PUSH(covered, stretch));
    memmove(covered->items + first + 1, covered->items + behind, moved * sizeof *covered->items);
    covered->items[first] = stretch;
    covered->count = first + 1 + moved;
    return PACE_OK;
}

pace_status pace_covered_add(double *fresh_s, pace_covered *covered, pace_stretch stretch) {
    size_t first = first_reaching(covered, stretch.from_s), behind = first;
    double fresh = stretch.to_s - stretch.from_s;
    pace_stretch joined = stretch;
    for (; behind < covered->count && covered->items[behind].from_s <= stretch.to_s; behind++) {
        const pace_stretch *other = &covered->items[behind];
        fresh -= fmin(other->to_s, stretch.to_s) - fmax(other->from_s, stretch.from_s);
        joined.from_s = fmin(joined.from_s, other->from_s);
        joined.to_s = fmax(joined.to_s, other->to_s);
    }
    *fresh_s = fmax(0, fresh);
    return replace(covered, first, behind, joined);
}

double pace_covered_length(const pace_covered *covered) {
    double length = 0;
    PACE_ITEMS (const pace_stretch, one, covered) length += one->to_s - one->from_s;
    return length;
}
