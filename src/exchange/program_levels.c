/* Collectives in two levels: over the leaders of nodes, and in the switch of a node. */
#include "exchange/program_build.h"

#include <string.h>

typedef pace_program_question sizes;

/* Reduce to the first rank of every node (binomial), ring of those, broadcast (binomial). */
static pace_status led(pace_program *p, const sizes *q, uint32_t rank) {
    uint32_t nodes = q->ranks / q->group;
    PACE_TRY(pace_program_gather_up(p, q->group, rank, q->bytes));
    const pace_ring_blocks blocks = {{0, 1, 1, nodes}, 1, pace_program_viewer(q) / q->group};
    if (rank == 0) {
        PACE_TRY(pace_program_around(p, q->group, nodes, 1, q->bytes / nodes, true, &blocks));
        PACE_TRY(pace_program_around(p, q->group, nodes, 1, q->bytes / nodes, false, &blocks));
    }
    return pace_program_spread_down(p, q->group, rank, q->bytes);
}

pace_status pace_program_leaders(pace_program *p, const sizes *q) {
    if (!q->group || q->ranks % q->group)
        return pace_fail(PACE_E_INPUT, "%u ranks do not divide into nodes of %u", q->ranks, q->group);
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank % q->group;
    for (uint32_t rank = 0; rank < q->group; rank++) {
        PACE_TRY(pace_program_open_class(p));
        PACE_TRY(led(p, q, rank));
    }
    return PACE_OK;
}

enum { CONTROL, DATA };

static pace_peer on(pace_peer peer, uint8_t channel) {
    peer.channel = channel;
    return peer;
}

/*
 * Every rank asks the switch for the sum of its share and hands it back for all: it sends what the others ask for and
 * its own result, and takes its own sum and all results. What it adds the switch passes on as it comes, so that data
 * in and out are under way together; nobody is done before all have sent. Three times from device to device: ask and
 * fetch, sum, hand out. A step between a rank and the switch is half of that way.
 */
static void moved(double *up, double *down, const sizes *q) {
    double share = q->bytes / q->ranks;
    *up = q->collective == PACE_ALLGATHER ? share : q->collective == PACE_REDUCESCATTER ? q->bytes : q->bytes + share;
    *down = q->collective == PACE_ALLGATHER ? q->bytes : q->collective == PACE_REDUCESCATTER ? share : q->bytes + share;
}

static pace_status add_rank(pace_program *p, uint32_t centre, double up, double down) {
    pace_peer control = on(pace_peer_of_rank(centre), CONTROL), data = on(pace_peer_of_rank(centre), DATA);
    PACE_TRY(pace_program_send(p, control, 0, 0)); /* asks */
    PACE_TRY(pace_program_receive(p, control, 0, 0));
    PACE_TRY(pace_program_send(p, control, 0, 0)); /* its first bytes */
    PACE_TRY(pace_program_send(p, control, 0, up));
    PACE_TRY(pace_program_receive(p, data, 0, down));
    PACE_TRY(pace_program_receive(p, control, 0, 0)); /* all is summed */
    PACE_TRY(pace_program_send(p, control, 0, 0));
    return pace_program_receive(p, control, 0, 0); /* all have it */
}

static pace_status take_from_all(pace_program *p, uint32_t ranks, double bytes) {
    for (uint32_t rank = 0; rank < ranks; rank++)
        PACE_TRY(pace_program_receive(p, on(pace_peer_of_rank(rank), CONTROL), 0, bytes));
    return PACE_OK;
}

/* The switch takes so much from every rank, and answers. */
static pace_status round_of(pace_program *p, uint32_t ranks, double up) {
    PACE_TRY(take_from_all(p, ranks, up));
    for (uint32_t rank = 0; rank < ranks; rank++)
        PACE_TRY(pace_program_send(p, on(pace_peer_of_rank(rank), CONTROL), 0, 0));
    return PACE_OK;
}

pace_status pace_program_multicast(pace_program *p, const sizes *q) {
    double up, down;
    moved(&up, &down, q);
    p->class_of[q->ranks] = 1;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(add_rank(p, q->ranks, up, down));
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(round_of(p, q->ranks, 0));
    PACE_TRY(take_from_all(p, q->ranks, 0));
    PACE_TRY(round_of(p, q->ranks, up));
    PACE_TRY(round_of(p, q->ranks, 0));
    for (uint32_t rank = 0; rank < q->ranks; rank++) {
        PACE_TRY(pace_program_open_lane(p));
        PACE_TRY(pace_program_wait(p, 0, 3 * q->ranks - 1)); /* first bytes have come from all */
        PACE_TRY(pace_program_send(p, on(pace_peer_of_rank(rank), DATA), 0, down));
    }
    return PACE_OK;
}

/* Whether every rank of the jobs side by side sees its peers as those of one job do. */
static bool spans_jobs(const pace_program *p) {
    PACE_ITEMS (const pace_peer, peer, &p->peers)
        if (peer->kind == PACE_PEER_RANK || p->rank_count % ((uint64_t)peer->stride * peer->extent)) return true;
    return false;
}

pace_status pace_program_repeat(pace_program *p, uint32_t jobs) {
    uint64_t ranks = (uint64_t)p->rank_count * jobs;
    if (!jobs || ranks >= UINT32_MAX)
        return pace_fail(PACE_E_INPUT, "%u jobs of %u ranks: too many", jobs, p->rank_count);
    if (jobs == 1) return PACE_OK;
    uint32_t *class_of = pace_resize(p->class_of, (size_t)ranks, sizeof *class_of),
             block = spans_jobs(p) ? p->rank_count : 0;
    if (!class_of) return PACE_E_MEMORY;
    for (size_t i = 0; i < p->peers.count; i++) p->peers.items[i].block = block;
    for (uint32_t job = 1; job < jobs; job++)
        memcpy(class_of + (size_t)job * p->rank_count, class_of, p->rank_count * sizeof *class_of);
    for (size_t c = 0; c < p->classes.count; c++) p->classes.items[c].ranks *= jobs;
    p->class_of = class_of;
    p->rank_count = (uint32_t)ranks;
    return PACE_OK;
}
