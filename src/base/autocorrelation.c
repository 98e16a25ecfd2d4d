#include "base/autocorrelation.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double value;
    size_t place;
} placed;

PACE_ORDER(by_value, placed, PACE_UP(value) PACE_UP(place))

pace_status pace_rank_values(double *ranks, const double *values, size_t count) {
    placed *order = pace_alloc(count, sizeof *order);
    if (!order) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) order[i] = (placed){values[i], i};
    qsort(order, count, sizeof *order, by_value);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && !(order[next].value > order[i].value); next++) {}
        double shared = (double)(i + next - 1) / 2 - (double)(count - 1) / 2;
        for (size_t k = i; k < next; k++) ranks[order[k].place] = shared;
    }
    pace_free(order);
    return PACE_OK;
}

typedef struct {
    double products, squares; /* of neighbours, and of as many values */
} neighbours;

static pace_status add_sample(neighbours *sum, double *ranks, const double *values, size_t count) {
    if (count < 2) return PACE_OK;
    PACE_TRY(pace_rank_values(ranks, values, count));
    for (size_t i = 0; i < count; i++) {
        sum->squares += ranks[i] * ranks[i] * (double)(count - 1) / (double)count;
        if (i > 0) sum->products += ranks[i - 1] * ranks[i];
    }
    return PACE_OK;
}

/* A sample of n values expects r - (1 + 3 r) / n where the process has r. */
pace_status pace_autocorrelation_of(double *out, const double *a, size_t a_count, const double *b, size_t b_count) {
    enum { LEAST = 20 };
    size_t longest = a_count > b_count ? a_count : b_count, samples = (a_count > 1) + (b_count > 1);
    *out = 0;
    if (a_count + b_count < LEAST) return PACE_OK;
    double *ranks = pace_alloc(longest, sizeof *ranks);
    if (!ranks) return PACE_E_MEMORY;
    neighbours sum = {0};
    pace_status status = add_sample(&sum, ranks, a, a_count);
    if (status == PACE_OK) status = add_sample(&sum, ranks, b, b_count);
    pace_free(ranks);
    if (status != PACE_OK || !(sum.squares > 0)) return status;
    double each = (double)(a_count + b_count) / (double)samples;
    double r = (sum.products / sum.squares + 1 / each) / (1 - 3 / each);
    *out = fmin(fmax(r, 0), 1 - 1 / each);
    return PACE_OK;
}

/* The variance of a mean of n, over that of n independent values: 1 + 2 sum over k of (1 - k / n) r^k. */
double pace_values_as_one(size_t count, double r) {
    if (count < 2 || !(r > 0)) return 1;
    double n = (double)count;
    return 1 + 2 * r / (1 - r) * (1 - (1 - pow(r, n)) / (n * (1 - r)));
}

double pace_difference_inflation(size_t a_count, size_t b_count, double r) {
    if (a_count == 1 || b_count == 1)
        return 1; /* one value's place among others is as likely as any, correlated or not */
    double a = 1 / (double)a_count, b = 1 / (double)b_count;
    return (pace_values_as_one(a_count, r) * a + pace_values_as_one(b_count, r) * b) / (a + b);
}
