#include "base/sort.h"
#include "base/order.h"

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

PACE_ORDER(by_value, int64_t, PACE_UP_OF(*))

void pace_order_ns(int64_t *values, size_t count) {
    if (count) qsort(values, count, sizeof *values, by_value);
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

typedef struct {
    size_t size;
    int (*compare)(const void *left, const void *right);
} sorting;

/* Where the ascending run that begins at `from` ends. */
static const char *run_end(const sorting *s, const char *from, const char *end) {
    for (from += s->size; from < end && s->compare(from - s->size, from) <= 0;) from += s->size;
    return from < end ? from : end;
}

static void merge_two(const sorting *s, char *to, const char *left, const char *right, const char *end) {
    const char *middle = right;
    while (left < middle && right < end) {
        const char **from = s->compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *from, s->size);
        to += s->size;
        *from += s->size;
    }
    memcpy(to, left < middle ? left : right, (size_t)(left < middle ? middle - left : end - right));
}

/* Joins runs in pairs; returns how many are left. */
static size_t merge_runs(const sorting *s, char *to, const char *from, const char *end) {
    size_t runs = 0;
    for (; from < end; runs++) {
        const char *middle = run_end(s, from, end), *last = middle < end ? run_end(s, middle, end) : end;
        merge_two(s, to, from, middle, last);
        to += last - from;
        from = last;
    }
    return runs;
}

void pace_sort_runs(void *items, void *scratch, size_t count, size_t size,
                    int (*compare)(const void *left, const void *right)) {
    const sorting s = {size, compare};
    char *from = items, *to = scratch;
    const size_t bytes = count * size;
    if (count < 2 || run_end(&s, from, from + bytes) == from + bytes) return;
    for (size_t runs = 2; runs > 1;) {
        runs = merge_runs(&s, to, from, from + bytes);
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, bytes);
}

void pace_sort_if_unsorted(void *items, size_t count, size_t size,
                           int (*compare)(const void *left, const void *right)) {
    const sorting s = {size, compare};
    const char *end = (const char *)items + count * size;
    if (count > 1 && run_end(&s, items, end) < end) qsort(items, count, size, compare);
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
