#include "exchange/steady_memory.h"
#include "base/numbers.h"

#include <math.h>
#include <string.h>

enum {
    MARKS = 212,
    GROUPS = 32
}; /* up to 2^52 bytes; a search asks of some dozen groups in turn; threads of small stacks hold them */

typedef struct {
    pace_machine machine;
    uint64_t constants[2];
    pace_collective collective;
    int ranks_per_node, nodes;
    bool single_bytes, used;
    pace_nccl_asked asked;
    pace_nccl_group group;
    bool known[MARKS];
    pace_nccl_interval own[MARKS], fewer[MARKS]; /* of this group; the longest of those on fewer nodes */
    pace_nccl_interval fastest[MARKS];
} known_group;

typedef struct {
    known_group groups[GROUPS];
    int last, next; /* where the last question was found; which is forgotten next */
} memory;

static _Thread_local memory remembered;

/* Machines are compared with what lies between their members: two that differ there alone are taken for different, and
 * asked anew. Fits and curves answer elsewhere (exchange/calibration.h) and have no part in these times. */
static bool is_of(const known_group *g, const pace_steady_question *q) {
    return g->used && g->nodes == q->nodes && g->collective == q->collective &&
           g->ranks_per_node == q->ranks_per_node && g->single_bytes == q->single_bytes &&
           g->constants[0] == q->chooser->fingerprint && g->constants[1] == q->prices->fingerprint &&
           g->asked.algorithm == q->asked.algorithm && g->asked.protocol == q->asked.protocol &&
           g->asked.stack == q->asked.stack && memcmp(&g->machine, q->machine, sizeof g->machine) == 0;
}

static void remember(known_group *g, const pace_steady_question *q) {
    memcpy(&g->machine, q->machine, sizeof g->machine);
    g->constants[0] = q->chooser->fingerprint;
    g->constants[1] = q->prices->fingerprint;
    g->collective = q->collective;
    g->ranks_per_node = q->ranks_per_node;
    g->nodes = q->nodes;
    g->single_bytes = q->single_bytes;
    g->asked = q->asked;
    q->make(&g->group, q->of, q->nodes);
    memset(g->known, 0, sizeof g->known);
    g->used = true;
}

static known_group *find_remembered(const pace_steady_question *q) {
    memory *m = &remembered;
    if (is_of(&m->groups[m->last], q)) return &m->groups[m->last];
    for (int i = 0; i < GROUPS; i++)
        if (is_of(&m->groups[i], q)) return &m->groups[m->last = i];
    m->last = m->next;
    m->next = (m->next + 1) % GROUPS;
    remember(&m->groups[m->last], q);
    return &m->groups[m->last];
}

/* Groups alike may come with constants that lie elsewhere. */
static known_group *find(const pace_steady_question *q) {
    known_group *g = find_remembered(q);
    g->group.chooser = q->chooser;
    g->group.prices = q->prices;
    return g;
}

enum { ALL_NODES = 32 };

int pace_next_fewer_nodes(int nodes) {
    int step = ALL_NODES / 4;
    if (nodes < ALL_NODES) return nodes + 1;
    while (nodes + 1 >= 8 * step) step *= 2;
    return nodes % step == step - 1 ? nodes + 1 : nodes + step - 1;
}

/* More nodes never take less time than fewer, though another algorithm is believed best there. */
static void find_fewer(pace_nccl_interval *out, const pace_steady_question *q, double mark, double next) {
    *out = (pace_nccl_interval){0, 0};
    for (int nodes = q->ranks_per_node > 1 ? 1 : 2; nodes < q->nodes; nodes = pace_next_fewer_nodes(nodes)) {
        pace_nccl_group group;
        pace_nccl_interval there;
        q->make(&group, q->of, nodes);
        pace_nccl_interval_find(&there, &group, mark, next, &q->asked);
        if (isfinite(there.least_s)) out->least_s = pace_most(out->least_s, there.least_s);
        if (isfinite(there.most_s)) out->most_s = pace_most(out->most_s, there.most_s);
    }
}

static void find_interval(pace_nccl_interval *own, pace_nccl_interval *fewer, const pace_steady_question *q,
                          const pace_nccl_group *group, double mark, double next) {
    pace_nccl_interval_find(own, group, mark, next, &q->asked);
    find_fewer(fewer, q, mark, next);
}

void pace_steady_time(pace_steady_answer *out, const pace_steady_question *q, double bytes) {
    double mark, next;
    pace_nccl_interval beyond[3], *own = &beyond[0], *fewer = &beyond[1], *fastest = &beyond[2];
    known_group *g = find(q);
    out->time_s = pace_nccl_own_time(&out->waiting_share, &out->algorithm, &out->protocol, &g->group, bytes, &q->asked);
    out->fastest_s = out->time_s;
    if (q->asked.stack == PACE_STACK_BELIEF || isinf(out->time_s)) return;
    int number = pace_nccl_mark(&mark, &next, bytes);
    bool known = number < MARKS && g->known[number];
    if (number < MARKS) {
        own = &g->own[number], fewer = &g->fewer[number], fastest = &g->fastest[number];
        g->known[number] = true;
    }
    if (!known) {
        find_interval(own, fewer, q, &g->group, mark, next);
        pace_nccl_interval_fastest(fastest, &g->group, mark, next, &q->asked);
    }
    out->time_s = pace_nccl_between_marks(own, mark, next, bytes);
    if (q->nodes > 1) out->time_s = pace_most(out->time_s, pace_nccl_between_marks(fewer, mark, next, bytes));
    out->fastest_s = pace_nccl_between_marks(fastest, mark, next, bytes);
}

double pace_steady_fastest(int *algorithm, int *protocol, const pace_steady_question *q, double bytes) {
    return pace_nccl_fastest(algorithm, protocol, &find(q)->group, bytes, &q->asked);
}
