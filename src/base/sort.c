#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned byte_of(int64_t value, int place) {
    return ((uint64_t)value ^ (UINT64_C(1) << 63)) >> (8 * place) &
           0xff; /* the sign turned, so that order is unsigned */
}

/* One stable pass; false when every value has the same byte there. */
static int pass(const int64_t *from, int64_t *to, size_t count, int place) {
    size_t at[256] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) at[byte_of(from[i], place)]++;
    if (at[byte_of(from[0], place)] == count) return 0;
    for (int i = 0; i < 256; i++) {
        size_t own = at[i];
        at[i] = sum;
        sum += own;
    }
    for (size_t i = 0; i < count; i++) to[at[byte_of(from[i], place)]++] = from[i];
    return 1;
}

void pace_sort_ns(int64_t *values, int64_t *scratch, size_t count) {
    int64_t *from = values, *to = scratch;
    if (count < 2) return;
    for (int place = 0; place < 8; place++) {
        if (!pass(from, to, count, place)) continue;
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) memcpy(values, from, count * sizeof *values);
}

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void pace_order_ns(int64_t *values, size_t count) {
    if (count) qsort(values, count, sizeof *values, by_value);
}

int pace_ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double pace_median(double *values, size_t count) {
    if (count == 0) return NAN;
    qsort(values, count, sizeof *values, pace_ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
