#include "base/change_point.h"
#include "base/order.h"
#include "base/random.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHUFFLES = 1999, LEAST_SHUFFLES = 199, MOST_STEPS = 20000000 };

typedef struct {
    double value;
    size_t place;
} placed;

PACE_ORDER(by_value, placed, PACE_UP(value) PACE_UP(place))

/* Ranks less their mean; equal values share theirs. */
static pace_status rank_values(double *ranks, const double *values, size_t count) {
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

/* The largest |sum of ranks before a split| in units of its standard deviation, but for a factor that all splits
 * share. */
static double largest(size_t *at, const double *ranks, size_t count) {
    double sum = ranks[0], most = 0;
    for (size_t i = 2; i + 2 <= count; i++) {
        sum += ranks[i - 1];
        double apart = fabs(sum) / sqrt((double)i * (double)(count - i));
        if (apart <= most) continue;
        most = apart;
        *at = i;
    }
    return most;
}

static void shuffle(double *values, size_t count, uint64_t *stream) {
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = (size_t)(pace_random_uniform(stream) * (double)(i + 1));
        double value = values[i];
        values[i] = values[other];
        values[other] = value;
    }
}

static double share_as_large(double *ranks, size_t count, double found) {
    size_t shuffles = MOST_STEPS / count, as_large = 0, at = 0;
    if (shuffles > MOST_SHUFFLES) shuffles = MOST_SHUFFLES;
    if (shuffles < LEAST_SHUFFLES) shuffles = LEAST_SHUFFLES;
    uint64_t stream = pace_random_stream(1, count);
    for (size_t i = 0; i < shuffles; i++) {
        shuffle(ranks, count, &stream);
        as_large += largest(&at, ranks, count) >= found * (1 - 1e-12);
    }
    return (double)(as_large + 1) / (double)(shuffles + 1);
}

static double median_of(double *scratch, const double *values, size_t count) {
    memcpy(scratch, values, count * sizeof *values);
    return pace_median(scratch, count);
}

pace_status pace_change_point_find(pace_change_point *out, const double *values, size_t count) {
    pace_change_point found = {.p = 1, .before = NAN, .after = NAN};
    *out = found;
    if (count < PACE_CHANGE_POINT_LEAST) return PACE_OK;
    double *ranks = pace_alloc(count, sizeof *ranks);
    if (!ranks) return PACE_E_MEMORY;
    pace_status status = rank_values(ranks, values, count);
    double apart = status == PACE_OK ? largest(&found.at, ranks, count) : 0;
    if (apart > 0) {
        found.p = share_as_large(ranks, count, apart);
        found.before = median_of(ranks, values, found.at);
        found.after = median_of(ranks, values + found.at, count - found.at);
    }
    pace_free(ranks);
    if (status == PACE_OK) *out = found;
    return status;
}
