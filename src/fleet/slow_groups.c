#include "fleet/slow_groups.h"

#include <math.h>
#include <string.h>

/* How far parts must be apart: the logarithm of 3 %; standard errors; the step between them, of their means'
 * distance. */
static const double LEAST_APART = 0.03, ERRORS_APART = 5, STEP_APART = 0.5;
enum { FEWEST_ITERATIONS = 20 };

typedef struct {
    const pace_iterations *data;
    const pace_variability *found;
    const size_t *order;
    double *speedup; /* by worker: what its times are divided by */
} workspace;

static double pace_of(const workspace *s, size_t place) { return log(s->found->workers[s->order[place]].usual); }

/* ---- where to split ---- */

typedef struct {
    size_t at; /* the slow part begins here */
    double distance, step;
    size_t fast, slow;
} parts;

/* The split of [first, first + count) into two parts whose means explain most. */
static parts best_split(const workspace *s, size_t first, size_t count) {
    parts best = {.at = first};
    double all = 0, fast = 0, most = 0;
    for (size_t i = first; i < first + count; i++) all += pace_of(s, i);
    for (size_t i = first; i + 1 < first + count; i++) {
        fast += pace_of(s, i);
        size_t n = i + 1 - first, rest = count - n;
        double distance = (all - fast) / (double)rest - fast / (double)n;
        double explained = distance * distance * (double)n * (double)rest;
        if (explained <= most) continue;
        most = explained;
        best = (parts){i + 1, distance, pace_of(s, i + 1) - pace_of(s, i), n, rest};
    }
    return best;
}

static bool holds(const parts *split, double error) {
    double of_means = error * sqrt(1 / (double)split->fast + 1 / (double)split->slow);
    return split->distance >= log1p(LEAST_APART) && split->distance >= ERRORS_APART * of_means &&
           split->step >= STEP_APART * split->distance;
}

static pace_status add_groups(pace_slow_groups *out, const workspace *s, size_t first, size_t count) {
    parts split = best_split(s, first, count);
    if (split.at == first || !holds(&split, s->found->usual_error))
        return PACE_PUSH(&out->groups, ((pace_slow_group){.first = first, .count = count}));
    PACE_TRY(add_groups(out, s, first, split.at - first));
    return add_groups(out, s, split.at, first + count - split.at);
}

/* ---- what groups cost ---- */

static double mean_pace(const workspace *s, const pace_slow_group *group) {
    double sum = 0;
    for (size_t i = group->first; i < group->first + group->count; i++) sum += pace_of(s, i);
    return sum / (double)group->count;
}

/* The mean of the slowest worker's time, each worker as many times as fast. */
static double step_of(const workspace *s) {
    double sum = 0;
    size_t steps = 0;
    for (size_t i = 0; i < s->data->iterations; i++) {
        double slowest = 0;
        for (size_t w = 0; w < s->data->workers; w++)
            slowest = fmax(slowest, s->data->times[i * s->data->workers + w] / s->speedup[w]);
        sum += slowest;
        steps += slowest > 0;
    }
    return sum / (double)steps;
}

static void find_costs(pace_slow_groups *groups, workspace *s) {
    double fastest = mean_pace(s, &groups->groups.items[0]);
    for (size_t w = 0; w < s->data->workers; w++) s->speedup[w] = 1;
    for (size_t g = groups->groups.count; g-- > 0;) {
        pace_slow_group *group = &groups->groups.items[g];
        group->pace = exp(mean_pace(s, group) - fastest);
        for (size_t i = group->first; i < group->first + group->count; i++) s->speedup[s->order[i]] = group->pace;
        group->step = step_of(s);
        group->saved_share = 1 - group->step / s->found->step;
    }
}

/* ---- all ---- */

static void sort(pace_slow_groups *groups, const pace_variability *found, size_t workers) {
    for (size_t w = 0; w < workers; w++) {
        size_t at = groups->count;
        if (!(found->workers[w].usual > 0)) continue;
        while (at > 0 && found->workers[groups->order[at - 1]].usual > found->workers[w].usual) at--;
        memmove(groups->order + at + 1, groups->order + at, (groups->count - at) * sizeof *groups->order);
        groups->order[at] = w;
        groups->count++;
    }
}

static pace_status find_groups(pace_slow_groups *out, const pace_iterations *data, const pace_variability *found) {
    workspace s = {data, found, out->order, pace_alloc(data->workers, sizeof *s.speedup)};
    if (!s.speedup) return PACE_E_MEMORY;
    pace_slow_group all = {.count = out->count};
    pace_status status =
        data->iterations < FEWEST_ITERATIONS ? PACE_PUSH(&out->groups, all) : add_groups(out, &s, 0, out->count);
    if (status == PACE_OK) find_costs(out, &s);
    pace_free(s.speedup);
    return status;
}

pace_status pace_slow_groups_of(pace_slow_groups *out, const pace_iterations *data, const pace_variability *found) {
    pace_slow_groups groups = {.order = pace_alloc(data->workers, sizeof *groups.order)};
    if (!groups.order) return PACE_E_MEMORY;
    sort(&groups, found, data->workers);
    pace_status status = find_groups(&groups, data, found);
    return PACE_GIVE(out, groups, status, pace_slow_groups_free(&groups));
}

void pace_slow_groups_free(pace_slow_groups *groups) {
    pace_free(groups->order);
    PACE_VEC_FREE(&groups->groups);
    *groups = (pace_slow_groups){0};
}

size_t pace_slow_group_of(const pace_slow_groups *groups, size_t worker) {
    for (size_t g = 0; g < groups->groups.count; g++)
        for (size_t i = 0; i < groups->groups.items[g].count; i++)
            if (groups->order[groups->groups.items[g].first + i] == worker) return g;
    return 0;
}
