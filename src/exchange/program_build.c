#include "exchange/program_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef pace_program_question sizes;

/* --- rings ------------------------------------------------------------------------------------------------------- */

/* n - 1 steps around the ring of one digit, each rank passing on a part of the vector; reducing it or not. */
static pace_status around(pace_program *p, uint32_t stride, uint32_t extent, uint8_t wire, double part, bool reduce) {
    for (uint32_t step = 1; step < extent; step++) {
        PACE_TRY(pace_program_send(p, pace_peer_shift(stride, extent, 1), wire, part));
        PACE_TRY(pace_program_receive(p, pace_peer_shift(stride, extent, -1), wire, part));
        if (reduce) PACE_TRY(pace_program_local(p, PACE_REDUCE, part));
    }
    return PACE_OK;
}

static pace_status ring_reducescatter(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    return around(p, 1, q->ranks, 0, q->bytes / q->ranks, true);
}

static pace_status ring_allgather(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    return around(p, 1, q->ranks, 0, q->bytes / q->ranks, false);
}

/* Patarasuk, Yuan: "Bandwidth optimal all-reduce algorithms for clusters of workstations" (JPDC 2009). */
static pace_status ring_allreduce(pace_program *p, const sizes *q) {
    PACE_TRY(ring_reducescatter(p, q));
    return around(p, 1, q->ranks, 0, q->bytes / q->ranks, false);
}

/* Reduce-scatter in the node, all-reduce of a part on every rail, all-gather in the node; a two-dimensional torus is
 * the same with rows for nodes. */
static pace_status hierarchical_allreduce(pace_program *p, const sizes *q) {
    if (!q->group || q->ranks % q->group)
        return pace_fail(PACE_E_INPUT, "%u ranks do not divide into nodes of %u", q->ranks, q->group);
    uint32_t nodes = q->ranks / q->group;
    double part = q->bytes / q->group;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(around(p, 1, q->group, 0, part, true));
    PACE_TRY(around(p, q->group, nodes, 1, part / nodes, true));
    PACE_TRY(around(p, q->group, nodes, 1, part / nodes, false));
    return around(p, 1, q->group, 0, part, false);
}

/* --- hypercubes (Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH", 2005) */

static pace_status swap(pace_program *p, pace_peer with, double bytes) {
    PACE_TRY(pace_program_send(p, with, 0, bytes));
    return pace_program_receive(p, with, 0, bytes);
}

static pace_status doubling(pace_program *p, uint32_t ranks, double bytes) {
    for (uint32_t mask = 1; mask < ranks; mask *= 2) {
        PACE_TRY(swap(p, pace_peer_xor(1, ranks, mask), bytes));
        PACE_TRY(pace_program_local(p, PACE_REDUCE, bytes));
    }
    return PACE_OK;
}

static pace_status halving(pace_program *p, uint32_t ranks, double bytes) {
    for (uint32_t mask = ranks / 2; mask; mask /= 2) {
        PACE_TRY(swap(p, pace_peer_xor(1, ranks, mask), bytes /= 2));
        PACE_TRY(pace_program_local(p, PACE_REDUCE, bytes));
    }
    return PACE_OK;
}

static pace_status gather_doubling(pace_program *p, uint32_t ranks, double bytes) {
    for (uint32_t mask = 1; mask < ranks; mask *= 2)
        PACE_TRY(swap(p, pace_peer_xor(1, ranks, mask), bytes / ranks * mask));
    return PACE_OK;
}

static pace_status rabenseifner(pace_program *p, uint32_t ranks, double bytes) {
    PACE_TRY(halving(p, ranks, bytes));
    return gather_doubling(p, ranks, bytes);
}

static uint32_t power_below(uint32_t ranks) {
    uint32_t power = 1;
    while (power <= ranks / 2) power *= 2;
    return power;
}

/* The ranks above the greatest power of two hand their vector to one below it, and get the sum at the end. */
static pace_status folded_in(pace_program *p, const sizes *q,
                             pace_status (*core)(pace_program *, uint32_t ranks, double bytes)) {
    uint32_t power = power_below(q->ranks), extra = q->ranks - power;
    pace_peer up = pace_peer_shift(1, q->ranks, power), down = pace_peer_shift(1, q->ranks, -(int64_t)power);
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank < extra ? 1 : rank < power ? 0 : 2;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(core(p, power, q->bytes));
    if (!extra) return PACE_OK;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(pace_program_receive(p, up, 0, q->bytes));
    PACE_TRY(pace_program_local(p, PACE_REDUCE, q->bytes));
    PACE_TRY(core(p, power, q->bytes));
    PACE_TRY(pace_program_send(p, up, 0, q->bytes));
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(pace_program_send(p, down, 0, q->bytes));
    return pace_program_receive(p, down, 0, q->bytes);
}

static pace_status doubling_allreduce(pace_program *p, const sizes *q) { return folded_in(p, q, doubling); }

static pace_status rabenseifner_allreduce(pace_program *p, const sizes *q) { return folded_in(p, q, rabenseifner); }

static pace_status power_only(pace_program *p, const sizes *q,
                              pace_status (*core)(pace_program *, uint32_t ranks, double bytes)) {
    if (q->ranks & (q->ranks - 1)) return pace_fail(PACE_E_INPUT, "%u ranks are no power of two", q->ranks);
    PACE_TRY(pace_program_open_class(p));
    return core(p, q->ranks, q->bytes);
}

static pace_status halving_reducescatter(pace_program *p, const sizes *q) { return power_only(p, q, halving); }

static pace_status doubling_allgather(pace_program *p, const sizes *q) { return power_only(p, q, gather_doubling); }

/* --- all to all -------------------------------------------------------------------------------------------------- */

static pace_status pairwise_alltoall(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    for (uint32_t step = 1; step < q->ranks; step++) {
        PACE_TRY(pace_program_send(p, pace_peer_shift(1, q->ranks, step), 0, q->bytes / q->ranks));
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, q->ranks, -(int64_t)step), 0, q->bytes / q->ranks));
    }
    return PACE_OK;
}

/* All sends are under way before the first receive. */
static pace_status send_to_all(pace_program *p, uint32_t ranks, double part, bool reduce) {
    for (uint32_t step = 1; step < ranks; step++)
        PACE_TRY(pace_program_send(p, pace_peer_shift(1, ranks, step), 0, part));
    for (uint32_t step = 1; step < ranks; step++) {
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, ranks, -(int64_t)step), 0, part));
        if (reduce) PACE_TRY(pace_program_local(p, PACE_REDUCE, part));
    }
    return PACE_OK;
}

static pace_status direct_alltoall(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    return send_to_all(p, q->ranks, q->bytes / q->ranks, false);
}

static pace_status direct_allreduce(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(send_to_all(p, q->ranks, q->bytes / q->ranks, true));
    return send_to_all(p, q->ranks, q->bytes / q->ranks, false);
}

static pace_status alltoallv(pace_program *p, const sizes *q, bool pairwise) {
    if (!q->between) return pace_fail(PACE_E_INPUT, "an all-to-all-v needs the bytes between every two ranks");
    uint32_t n = q->ranks;
    for (uint32_t rank = 0; rank < n; rank++) {
        p->class_of[rank] = rank;
        PACE_TRY(pace_program_open_class(p));
        for (uint32_t round = 0; round < 2; round++)
            for (uint32_t step = 1; step < n; step++) {
                uint32_t to = (rank + step) % n, from = (rank + n - step) % n;
                if (!round) PACE_TRY(pace_program_send(p, pace_peer_of_rank(to), 0, q->between[(size_t)rank * n + to]));
                if (pairwise ? !round : round)
                    PACE_TRY(pace_program_receive(p, pace_peer_of_rank(from), 0, q->between[(size_t)from * n + rank]));
            }
    }
    return PACE_OK;
}

static pace_status pairwise_alltoallv(pace_program *p, const sizes *q) { return alltoallv(p, q, true); }

static pace_status direct_alltoallv(pace_program *p, const sizes *q) { return alltoallv(p, q, false); }

/* --- the table --------------------------------------------------------------------------------------------------- */

const pace_program_row pace_program_rows[] = {
    {"allreduce", "ring", ring_allreduce},
    {"allreduce", "recursive_doubling", doubling_allreduce},
    {"allreduce", "rabenseifner", rabenseifner_allreduce},
    {"allreduce", "binomial", pace_program_tree_allreduce},
    {"allreduce", "double_tree", pace_program_double_tree},
    {"allreduce", "direct", direct_allreduce},
    {"allreduce", "hierarchical", hierarchical_allreduce},
    {"reducescatter", "ring", ring_reducescatter},
    {"reducescatter", "recursive_halving", halving_reducescatter},
    {"allgather", "ring", ring_allgather},
    {"allgather", "recursive_doubling", doubling_allgather},
    {"reduce", "binomial", pace_program_tree_reduce},
    {"broadcast", "binomial", pace_program_tree_broadcast},
    {"broadcast", "chain", pace_program_chain_broadcast},
    {"alltoall", "pairwise", pairwise_alltoall},
    {"alltoall", "direct", direct_alltoall},
    {"alltoallv", "pairwise", pairwise_alltoallv},
    {"alltoallv", "direct", direct_alltoallv},
};
const size_t pace_program_row_count = sizeof pace_program_rows / sizeof *pace_program_rows;

static pace_status unknown(const char *collective, const char *algorithm) {
    char known[512] = "";
    for (size_t i = 0; i < pace_program_row_count; i++)
        if (strcmp(pace_program_rows[i].collective, collective) == 0) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", pace_program_rows[i].algorithm);
        }
    if (!known[0]) return pace_fail(PACE_E_INPUT, "no program does the collective '%s'", collective);
    return pace_fail(PACE_E_INPUT, "no program does '%s' by '%s'; there are: %s", collective, algorithm, known);
}

pace_status pace_program_build(pace_program *out, const char *collective, const char *algorithm,
                               const pace_program_question *question) {
    const pace_program_row *row = NULL;
    for (size_t i = 0; i < pace_program_row_count && !row; i++)
        if (strcmp(pace_program_rows[i].collective, collective) == 0 &&
            strcmp(pace_program_rows[i].algorithm, algorithm) == 0)
            row = &pace_program_rows[i];
    if (!row) return unknown(collective, algorithm);
    if (!(question->bytes >= 0) || isinf(question->bytes))
        return pace_fail(PACE_E_INPUT, "expected a size of at least 0 bytes, found %g", question->bytes);
    pace_program program;
    PACE_TRY(pace_program_init(&program, question->ranks));
    pace_status status = row->build(&program, question);
    if (status == PACE_OK) status = pace_program_finish(&program);
    if (status == PACE_OK) *out = program;
    else pace_program_free(&program);
    return status;
}
