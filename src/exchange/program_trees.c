#include "exchange/program_build.h"

#include <string.h>

typedef pace_program_question sizes;

static pace_peer at(const sizes *q, int64_t by, uint8_t channel) {
    pace_peer peer = pace_peer_shift(1, q->ranks, by);
    peer.channel = channel;
    return peer;
}

/* --- binomial trees rooted at rank 0: a rank's children are those a power of two below its lowest bit away -------- */

static uint32_t span_of(uint32_t rank, uint32_t ranks) {
    uint32_t span = rank & (~rank + 1);
    if (!rank)
        for (span = 1; span < ranks;) span *= 2;
    return span;
}

pace_status pace_program_gather_up(pace_program *p, uint32_t ranks, uint32_t rank, double bytes) {
    uint32_t span = span_of(rank, ranks);
    for (uint32_t child = 1; child < span; child *= 2) {
        if (rank + child >= ranks) continue;
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, ranks, child), 0, bytes));
        PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, bytes));
    }
    return rank ? pace_program_send(p, pace_peer_shift(1, ranks, -(int64_t)span), 0, bytes) : PACE_OK;
}

pace_status pace_program_spread_down(pace_program *p, uint32_t ranks, uint32_t rank, double bytes) {
    uint32_t span = span_of(rank, ranks);
    if (rank) PACE_TRY(pace_program_receive(p, pace_peer_shift(1, ranks, -(int64_t)span), 0, bytes));
    for (uint32_t child = span / 2; child; child /= 2)
        if (rank + child < ranks) PACE_TRY(pace_program_send(p, pace_peer_shift(1, ranks, child), 0, bytes));
    return PACE_OK;
}

/* Every child gets the parts of all ranks below it; then all parts go round. */
static pace_status scatter_down(pace_program *p, const sizes *q, uint32_t rank) {
    uint32_t span = span_of(rank, q->ranks);
    double part = q->bytes / q->ranks;
    uint32_t below = rank + span < q->ranks ? span : q->ranks - rank, me = q->viewer ? q->viewer - 1 : rank;
    const pace_ring_blocks blocks = {{0, 1, 1, q->ranks}, 1, me};
    pace_program_at(p, me, below, 1, q->ranks);
    if (rank) PACE_TRY(pace_program_receive(p, at(q, -(int64_t)span, 0), 0, below * part));
    for (uint32_t child = span / 2; child; child /= 2) {
        if (rank + child >= q->ranks) continue;
        uint32_t of = rank + 2 * child < q->ranks ? child : q->ranks - rank - child;
        pace_program_at(p, me + child, of, 1, q->ranks);
        PACE_TRY(pace_program_send(p, at(q, child, 0), 0, of * part));
    }
    return pace_program_around(p, 1, q->ranks, 0, part, false, &blocks);
}

/* Ranks with the same lowest bit do the same, but for those whose children the end of the ranks cuts off. */
typedef pace_status (*tree_part)(pace_program *p, const sizes *q, uint32_t rank);

static pace_status tree(pace_program *p, const sizes *q, tree_part add) {
    uint32_t class_of_span[33] = {0};
    for (uint32_t rank = 0; rank < q->ranks; rank++) {
        uint32_t span = span_of(rank, q->ranks), bit = 0;
        while (span >> bit > 1) bit++;
        bool whole = rank && (uint64_t)rank + span <= q->ranks;
        if (!whole || !class_of_span[bit]) {
            PACE_TRY(pace_program_open_class(p));
            PACE_TRY(add(p, q, rank));
            if (whole) class_of_span[bit] = (uint32_t)p->classes.count;
        }
        p->class_of[rank] = whole ? class_of_span[bit] - 1 : (uint32_t)p->classes.count - 1;
    }
    return PACE_OK;
}

static pace_status up_and_down(pace_program *p, const sizes *q, uint32_t rank) {
    if (q->collective != PACE_BROADCAST) PACE_TRY(pace_program_gather_up(p, q->ranks, rank, q->bytes));
    return q->collective != PACE_REDUCE ? pace_program_spread_down(p, q->ranks, rank, q->bytes) : PACE_OK;
}

pace_status pace_program_binomial(pace_program *p, const sizes *q) { return tree(p, q, up_and_down); }
pace_status pace_program_scatter_allgather(pace_program *p, const sizes *q) { return tree(p, q, scatter_down); }

/* --- a chain ------------------------------------------------------------------------------------------------------ */

/* A broadcast from rank 0 on, a reduction towards it. */
pace_status pace_program_chain(pace_program *p, const sizes *q) {
    uint32_t segments = q->segments ? q->segments : 1;
    bool reduces = q->collective == PACE_REDUCE;
    int64_t onward = reduces ? -1 : 1;
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank == 0 ? 0 : rank + 1 == q->ranks ? 2 : 1;
    for (int class = 0; class < 3; class ++) {
        bool first = class == (reduces ? 2 : 0), last = class == (reduces ? 0 : 2);
        PACE_TRY(pace_program_open_class(p));
        for (uint32_t i = 0; i < segments && q->ranks > 1; i++) {
            pace_program_at(p, i, 1, 1, segments);
            if (!first) PACE_TRY(pace_program_receive(p, at(q, -onward, 0), 0, q->bytes / segments));
            if (!first && reduces) PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, q->bytes / segments));
            if (!last) PACE_TRY(pace_program_send(p, at(q, onward, 0), 0, q->bytes / segments));
        }
    }
    return PACE_OK;
}

/* --- binary trees ------------------------------------------------------------------------------------------------- */

/* Two trees, in which a rank inside one is a leaf of the other (Sanders, Speck, Träff: "Two-tree algorithms for full
 * bandwidth broadcast, reduction and scan", Parallel Computing 2009). */

enum { NOBODY = -1 };

typedef pace_tree_branches branches;

/* The in-order binary tree of ranks 0 … n-1 in which 0 is the root and has one child: a rank's parent differs in its
 * lowest bit and the one above; where that is no rank, in the lowest bit only. */
static int64_t parent_of(int64_t rank, int64_t ranks) {
    if (rank == 0) return NOBODY;
    int64_t bit = rank & -rank, parent = (rank ^ bit) | bit << 1;
    return parent >= ranks ? rank ^ bit : parent;
}

/* The lower child is half a bit below; the upper one the first rank there is at half a bit above, or less. */
static branches branches_of(int64_t rank, int64_t ranks) {
    branches of = {0};
    int64_t bit = rank & -rank;
    if (rank) of.up = parent_of(rank, ranks) - rank;
    else
        for (bit = 1; bit < ranks;) bit *= 2;
    if (rank && bit > 1) of.down[0] = -(bit / 2);
    for (int64_t half = bit / 2; half; half /= 2)
        if (rank + half < ranks && parent_of(rank + half, ranks) == rank) {
            of.down[1] = half;
            break;
        }
    return of;
}

/* The other tree is the mirror image, or for an odd number of ranks the same shifted by one. */
static branches branches_in(int tree, int64_t rank, int64_t ranks) {
    if (tree == 0) return branches_of(rank, ranks);
    if (ranks % 2) {
        int64_t seen = (rank + ranks - 1) % ranks;
        return branches_of(seen, ranks); /* offsets are taken modulo the ranks */
    }
    branches of = branches_of(ranks - 1 - rank, ranks);
    of.up = -of.up;
    for (int i = 0; i < 2; i++) of.down[i] = -of.down[i];
    return of;
}

static pace_status up_lane(pace_program *p, const sizes *q, const branches *of, double piece) {
    uint32_t segments = q->segments ? q->segments : 1;
    for (uint32_t s = 0; s < segments; s++) {
        pace_program_at(p, s, 1, 1, segments);
        for (int i = 0; i < 2; i++)
            if (of->down[i]) {
                PACE_TRY(pace_program_receive(p, at(q, of->down[i], 0), 0, piece));
                PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, piece));
            }
        if (of->up) PACE_TRY(pace_program_send(p, at(q, of->up, 0), 0, piece));
    }
    return PACE_OK;
}

/* The root's lane follows its own lane of the way up, two operations a child. */
static pace_status down_lane(pace_program *p, const sizes *q, const branches *of, double piece) {
    uint32_t a_segment = 2 * ((of->down[0] != 0) + (of->down[1] != 0)), segments = q->segments ? q->segments : 1;
    for (uint32_t s = 0; s < segments; s++) {
        pace_program_at(p, s, 1, 1, segments);
        if (of->up) PACE_TRY(pace_program_receive(p, at(q, of->up, 1), 0, piece));
        else if (a_segment) PACE_TRY(pace_program_wait(p, 0, (s + 1) * a_segment - 1));
        for (int i = 0; i < 2; i++)
            if (of->down[i]) PACE_TRY(pace_program_send(p, at(q, of->down[i], 1), 0, piece));
    }
    return PACE_OK;
}

static pace_status add_tree(pace_program *p, const sizes *q, const branches *of) {
    double piece = q->bytes / (q->segments ? q->segments : 1);
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(up_lane(p, q, of, piece));
    PACE_TRY(pace_program_open_lane(p));
    return down_lane(p, q, of, piece);
}

/* Few differ: compared one by one. */
pace_status pace_program_branches(pace_tree_branches **out, size_t *count, uint32_t **kind_of, uint32_t ranks,
                                  int trees) {
    PACE_VEC(branches) known = {0};
    uint32_t *kinds = pace_alloc(ranks, sizeof *kinds);
    pace_status status = kinds ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t rank = 0; rank < ranks && status == PACE_OK; rank++) {
        branches of[PACE_TREES];
        memset(of, 0, sizeof of);
        for (int tree = 0; tree < trees; tree++) of[tree] = branches_in(tree, rank, ranks);
        uint32_t kind = 0, all = (uint32_t)(known.count / PACE_TREES);
        while (kind < all && memcmp(&known.items[(size_t)kind * PACE_TREES], of, sizeof of)) kind++;
        for (int tree = 0; tree < PACE_TREES && kind == all && status == PACE_OK; tree++)
            status = PACE_PUSH(&known, of[tree]);
        kinds[rank] = kind;
    }
    if (status != PACE_OK) {
        pace_free(kinds);
        PACE_VEC_FREE(&known);
        return status;
    }
    *out = known.items;
    *count = known.count / PACE_TREES;
    *kind_of = kinds;
    return PACE_OK;
}

/* Ranks with the same branches are of one class. */
pace_status pace_program_pipelined_tree(pace_program *p, const sizes *q) {
    branches *known;
    size_t count;
    uint32_t *kind_of;
    PACE_TRY(pace_program_branches(&known, &count, &kind_of, q->ranks, 1));
    pace_status status = PACE_OK;
    for (size_t k = 0; k < count && status == PACE_OK; k++) status = add_tree(p, q, &known[k * PACE_TREES]);
    memcpy(p->class_of, kind_of, q->ranks * sizeof *kind_of);
    PACE_FREE(known, kind_of);
    return status;
}
