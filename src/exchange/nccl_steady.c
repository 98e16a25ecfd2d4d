/* Times that never fall as bytes grow. NCCL chooses by what it believes, so that where it changes from one algorithm or
 * protocol to another, what is reached may jump down; but whoever sends less could send more, and waits no longer for
 * it. At marks, a quarter of a doubling apart, a time is the shortest of all marks from its own on; between two of them
 * it lies on the line between both. */
#include "base/numbers.h"
#include "exchange/nccl.h"

#include <math.h>

typedef struct {
    const pace_nccl_group *group;
    const pace_nccl_asked *of;
} asked;

/* How a size goes. */
typedef struct {
    double bytes, time_s, waiting_share;
    int algorithm, protocol;
} passage;

static passage at(const asked *a, double bytes) {
    passage p = {.bytes = bytes, .time_s = INFINITY};
    const pace_nccl_group *g = a->group;
    bool belief = a->of->stack == PACE_STACK_BELIEF;
    double believed = pace_nccl_choose(&p.algorithm, &p.protocol, g->chooser, &g->chosen_by, bytes, a->of->algorithm,
                                       a->of->protocol);
    if (isfinite(believed))
        p.time_s = pace_nccl_reached_time(&p.waiting_share, belief ? g->chooser : g->prices,
                                          belief ? &g->chosen_by : &g->priced_by, p.algorithm, p.protocol, bytes,
                                          a->of->stack);
    return p;
}

/* NCCL takes lines with flags up to here whatever happens: marks are doublings. */
static const double first_changes = 8192, most_bytes = 1e15;

/* Quarters of doublings; those of a power of two are exact. */
static double mark_of(double quarters) { return exp2(floor(quarters / 4)) * exp2(fmod(quarters, 4) / 4); }

static double mark_from(double bytes) {
    if (bytes < 1) return 0;
    double quarters = floor(log2(bytes) * 4 + 1e-9);
    return mark_of(bytes < first_changes ? floor(quarters / 4) * 4 : quarters);
}

static double next_mark(double mark) {
    if (mark < 1) return 1;
    return mark_of(round(log2(mark) * 4) + (mark < first_changes ? 4 : 1));
}

/* A time does not fall by more than this: marks beyond one that takes so much longer are not looked at. */
static const double falls_to = 0.5;

static double shortest_from(const asked *a, const passage *mark) {
    double shortest = mark->time_s, bytes = mark->bytes;
    passage next = *mark;
    while (next.time_s * falls_to < shortest && bytes < most_bytes) {
        bytes = next_mark(bytes);
        next = at(a, bytes);
        shortest = pace_least(shortest, next.time_s);
    }
    return shortest;
}

void pace_nccl_interval_fastest(pace_nccl_interval *out, const pace_nccl_group *group, double mark, double next,
                                const pace_nccl_asked *of) {
    int algorithm, protocol;
    double below_s = pace_nccl_fastest(&algorithm, &protocol, group, mark, of);
    double above_s = pace_nccl_fastest(&algorithm, &protocol, group, next, of);
    double beyond_s = pace_nccl_fastest(&algorithm, &protocol, group, next_mark(next), of);
    double most_s = pace_least(above_s, beyond_s);
    *out = (pace_nccl_interval){pace_least(below_s, most_s), most_s};
}

int pace_nccl_mark(double *mark, double *next, double bytes) {
    *mark = mark_from(bytes);
    *next = next_mark(*mark);
    return *mark < 1 ? 0 : 1 + (int)round(log2(*mark) * 4);
}

void pace_nccl_interval_find(pace_nccl_interval *out, const pace_nccl_group *group, double mark, double next,
                             const pace_nccl_asked *of) {
    const asked a = {group, of};
    const passage below = at(&a, mark), above = at(&a, next);
    double most = shortest_from(&a, &above), least = pace_least(below.time_s, most);
    *out = (pace_nccl_interval){least, most};
}

double pace_nccl_between_marks(const pace_nccl_interval *interval, double mark, double next, double bytes) {
    double share = pace_least((bytes - mark) / (next - mark), 1);
    return interval->least_s + (interval->most_s - interval->least_s) * (share > 1e-9 ? share : 0);
}

double pace_nccl_own_time(double *waiting_share, int *algorithm, int *protocol, const pace_nccl_group *group,
                          double bytes, const pace_nccl_asked *of) {
    const asked a = {group, of};
    const passage here = at(&a, bytes);
    *algorithm = here.algorithm;
    *protocol = here.protocol;
    *waiting_share = here.waiting_share;
    return here.time_s;
}

double pace_nccl_fastest(int *algorithm, int *protocol, const pace_nccl_group *group, double bytes,
                         const pace_nccl_asked *of) {
    double least_s = INFINITY, waiting;
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++)
        for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++) {
            bool may = (of->algorithm < 0 || a == of->algorithm) && (of->protocol < 0 || p == of->protocol);
            if (!may || !(group->chosen_by.bytes_per_s[a][p] > 0)) continue;
            double s = pace_nccl_reached_time(&waiting, group->prices, &group->freest, a, p, bytes, of->stack);
            if (s < least_s) least_s = s, *algorithm = a, *protocol = p;
        }
    return least_s;
}
