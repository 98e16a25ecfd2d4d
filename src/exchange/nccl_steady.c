/* Times that never fall as bytes grow. NCCL chooses by what it believes, so that where it changes from one algorithm or
 * protocol to another, what is reached may jump down; but whoever sends less could send more, and waits no longer for it.
 * At marks, a quarter of a doubling apart, a time is the shortest of all marks from its own on; between two of them it
 * lies on the line between both. Small sizes, of which all go alike, have their own. */
#include "base/numbers.h"
#include "exchange/nccl.h"

#include <math.h>

typedef struct {
    const pace_nccl *nccl;
    const pace_nccl_curves *curves;
    int only_algorithm, only_protocol;
    pace_nccl_stack stack;
} asked;

/* How a size goes. */
typedef struct {
    double bytes, time_s, waiting_share;
    int algorithm, protocol, bucket;
    bool plateau;
} passage;

static passage at(const asked *a, double bytes) {
    passage p = {.bytes = bytes, .time_s = INFINITY, .bucket = bytes >= 64 ? ilogb(bytes / 64) : 0};
    p.plateau = bytes >= 64.0 * a->curves->channels * a->curves->ranks;
    double believed =
        pace_nccl_choose(&p.algorithm, &p.protocol, a->nccl, a->curves, bytes, a->only_algorithm, a->only_protocol);
    if (isfinite(believed))
        p.time_s =
            pace_nccl_reached_time(&p.waiting_share, a->nccl, a->curves, p.algorithm, p.protocol, bytes, a->stack);
    return p;
}

/* Time grows with bytes from one to the other: a tree's bandwidth goes by powers of two. */
static bool alike(const passage *a, const passage *b) {
    bool same_tree = a->algorithm != PACE_NCCL_TREE || a->bucket == b->bucket;
    return a->algorithm == b->algorithm && a->protocol == b->protocol && a->plateau == b->plateau && same_tree;
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
static const double falls_to = 0.8;

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

double pace_nccl_steady_time(double *waiting_share, int *algorithm, int *protocol, const pace_nccl *nccl,
                             const pace_nccl_curves *curves, double bytes, int only_algorithm, int only_protocol,
                             pace_nccl_stack stack) {
    const asked a = {nccl, curves, only_algorithm, only_protocol, stack};
    const passage here = at(&a, bytes);
    *algorithm = here.algorithm;
    *protocol = here.protocol;
    *waiting_share = here.waiting_share;
    if (stack == PACE_STACK_BELIEF || isinf(here.time_s)) return here.time_s;
    double mark = mark_from(bytes);
    const passage below = at(&a, mark), above = at(&a, next_mark(mark));
    double most = shortest_from(&a, &above), least = pace_least(below.time_s, most);
    if (bytes < first_changes && alike(&below, &above) && most == above.time_s && least == below.time_s)
        return here.time_s;
    double share = pace_least((bytes - mark) / (above.bytes - mark), 1);
    return least + (most - least) * (share > 1e-9 ? share : 0);
}
