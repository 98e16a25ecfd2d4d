#include "fleet/steady_delay.h"

#include "base/numbers.h"
#include "base/rank_test.h"
#include "insight/ranks/chance_lateness.h"

#include <math.h>

static bool in_spell(const pace_variability *found, size_t worker, size_t iteration) {
    PACE_ITEMS (const pace_slow_spell, s, &found->spells)
        if (s->worker == worker && s->first <= iteration && iteration <= s->last) return true;
    return false;
}

/* Of iterations, as long as in slowdown.c, or twice as many as count as one where times are like those before: a worker
 * that is last for a while by chance is so in one of them. */
static size_t stretches_of(const pace_iterations *data, const pace_variability *found) {
    double iterations = (double)data->iterations, as_one = (1 + found->like) / (1 - found->like);
    return (size_t)fmax(1, floor(iterations / fmax(sqrt(iterations), 2 * as_one)));
}

/* `by_worker`: delays of a stretch and worker, in billionths of the mean time. */
static void add_delays(pace_steady_delay *out, int64_t *by_worker, size_t stretches, const pace_iterations *data,
                       const pace_variability *found) {
    for (size_t i = 0; i < data->iterations; i++) {
        size_t slowest = data->workers;
        double lost = pace_iteration_delay(&slowest, data, i);
        if (slowest == data->workers || !(lost > 0) || in_spell(found, slowest, i)) continue;
        by_worker[i * stretches / data->iterations * data->workers + slowest] += llround(1e9 * lost / found->mean);
        out->all_lost += lost;
        if (lost > out->worst_lost) out->worst_lost = lost, out->iteration = i, out->worst_worker = slowest;
    }
}

static void find_worker(pace_steady_delay *out, const int64_t *by_worker, size_t stretches, const pace_iterations *data,
                        double mean) {
    int64_t most = 0;
    for (size_t w = 0; w < data->workers; w++) {
        int64_t sum = 0;
        for (size_t s = 0; s < stretches; s++) sum += by_worker[s * data->workers + w];
        if (sum > most) most = sum, out->worker = w;
    }
    out->lost = (double)most * mean / 1e9;
}

pace_status pace_steady_delay_of(pace_steady_delay *out, const pace_iterations *data, const pace_variability *found) {
    size_t stretches = stretches_of(data, found);
    int64_t *by_worker = pace_alloc(stretches * data->workers, sizeof *by_worker);
    if (!by_worker) return PACE_E_MEMORY;
    *out = (pace_steady_delay){0};
    add_delays(out, by_worker, stretches, data, found);
    find_worker(out, by_worker, stretches, data, found->mean);
    bool tells = pow((double)data->workers, 1 - (double)stretches) <= PACE_CHANGE_LEVEL;
    out->lost_share = out->lost / found->time;
    out->all_lost_share = out->all_lost / found->time;
    out->worst_share = pace_part_of(out->worst_lost, out->all_lost);
    out->by_chance = !tells || pace_chance_lateness_of(by_worker, stretches, data->workers).by_chance;
    pace_free(by_worker);
    return PACE_OK;
}
