#include "insight/ranks/chance_lateness.h"

#include "base/random.h"
#include "base/rank_test.h"

#include <math.h>

enum { MOST_SHUFFLES = 999, LEAST_SHUFFLES = 99, MOST_VALUES = 20000000 };

static int64_t largest(const int64_t *values, size_t count) {
    int64_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > most) most = values[i];
    return most;
}

static int64_t latest_in_all(const int64_t *late_ns, size_t steps, size_t ranks) {
    int64_t most = 0;
    for (size_t r = 0; r < ranks; r++) {
        int64_t sum = 0;
        for (size_t s = 0; s < steps; s++) sum += late_ns[s * ranks + r];
        if (sum > most) most = sum;
    }
    return most;
}

pace_chance_lateness pace_chance_lateness_of(int64_t *late_ns, size_t steps, size_t ranks) {
    pace_chance_lateness found = {0};
    for (size_t s = 0; s < steps; s++) found.late_ns += largest(late_ns + s * ranks, ranks);
    /* One that is late in every step is so by chance once in ranks^(steps - 1) cases. */
    if (steps < 2 || ranks < 2 || pow((double)ranks, 1 - (double)steps) > PACE_CHANGE_LEVEL) return found;
    size_t shuffles = MOST_VALUES / (steps * ranks), as_late = 0;
    if (shuffles > MOST_SHUFFLES) shuffles = MOST_SHUFFLES;
    if (shuffles < LEAST_SHUFFLES) shuffles = LEAST_SHUFFLES;
    uint64_t stream = pace_random_stream(steps, ranks);
    int64_t latest = latest_in_all(late_ns, steps, ranks);
    for (size_t i = 0; i < shuffles; i++) {
        for (size_t s = 0; s < steps; s++) pace_random_shuffle(late_ns + s * ranks, ranks, &stream);
        as_late += latest_in_all(late_ns, steps, ranks) >= latest;
    }
    found.by_chance = (double)(as_late + 1) > PACE_CHANGE_LEVEL * (double)(shuffles + 1);
    return found;
}
