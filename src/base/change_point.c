#include "base/change_point.h"
#include "base/autocorrelation.h"
#include "base/random.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { MOST_SHUFFLES = 1999, LEAST_SHUFFLES = 199, MOST_STEPS = 20000000 };

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

/* The values in another order: blocks of neighbours, beginning anywhere, the last one with the first values behind. */
static void put_blocks(double *out, const double *values, size_t count, size_t block, int64_t *order,
                       uint64_t *stream) {
    size_t blocks = (count + block - 1) / block, at = 0;
    size_t begin = block > 1 ? (size_t)(pace_random_uniform(stream) * (double)count) : 0;
    pace_random_shuffle(order, blocks, stream);
    for (size_t i = 0; i < blocks; i++)
        for (size_t k = (size_t)order[i] * block, end = k + block; k < count && k < end; k++)
            out[at++] = values[(begin + k) % count];
}

/* Neighbours that resemble each other stay together. */
static pace_status share_as_large(double *share, const double *ranks, size_t count, size_t block, double found) {
    size_t shuffles = MOST_STEPS / count, as_large = 0, at = 0;
    if (shuffles > MOST_SHUFFLES) shuffles = MOST_SHUFFLES;
    if (shuffles < LEAST_SHUFFLES) shuffles = LEAST_SHUFFLES;
    uint64_t stream = pace_random_stream(1, count);
    double *shuffled = pace_alloc(count, sizeof *shuffled);
    int64_t *order = pace_alloc(count, sizeof *order);
    bool room = shuffled && order;
    for (size_t i = 0; room && i < count; i++) order[i] = (int64_t)i;
    for (size_t i = 0; room && i < shuffles; i++) {
        put_blocks(shuffled, ranks, count, block, order, &stream);
        as_large += largest(&at, shuffled, count) >= found * (1 - 1e-12);
    }
    PACE_FREE(shuffled, order);
    *share = (double)(as_large + 1) / (double)(shuffles + 1);
    return room ? PACE_OK : PACE_E_MEMORY;
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
    double correlation = 0;
    pace_status status = pace_rank_values(ranks, values, count);
    double apart = status == PACE_OK ? largest(&found.at, ranks, count) : 0;
    if (apart > 0)
        status = pace_autocorrelation_of(&correlation, values, found.at, values + found.at, count - found.at);
    if (status == PACE_OK && apart > 0) {
        /* Where blocks meet, neighbours part: they are longer than what counts as one value. */
        size_t block = (size_t)lround(2 * pace_values_as_one(count, correlation) - 1);
        status = share_as_large(&found.p, ranks, count, block, apart);
        found.before = median_of(ranks, values, found.at);
        found.after = median_of(ranks, values + found.at, count - found.at);
    }
    pace_free(ranks);
    if (status == PACE_OK) *out = found;
    return status;
}
