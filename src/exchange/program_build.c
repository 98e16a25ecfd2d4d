#include "exchange/program_build.h"
#include "machine/machine.h"

typedef pace_program_question sizes;

/* --- rings ------------------------------------------------------------------------------------------------------- */

/* Reduce-scatter in rows of `row` ranks, all-reduce of a part along every column, all-gather in the rows. */
static pace_status two_levels(pace_program *p, const sizes *q, uint32_t row, uint8_t wire_along) {
    uint32_t rows = q->ranks / row;
    uint32_t viewer = pace_program_viewer(q);
    const pace_ring_blocks in_row = {{0, rows, row, q->ranks}, 1, viewer % row},
                           along = {{viewer % row, 1, 1, q->ranks}, row, viewer / row};
    double part = q->bytes / row;
    PACE_TRY(pace_program_open_class(p));
    if (pace_program_reduces(q)) {
        PACE_TRY(pace_program_around(p, 1, row, 0, part, true, &in_row));
        PACE_TRY(pace_program_around(p, row, rows, wire_along, part / rows, true, &along));
    }
    if (!pace_program_gathers(q)) return PACE_OK;
    PACE_TRY(pace_program_around(p, row, rows, wire_along, part / rows, false, &along));
    return pace_program_around(p, 1, row, 0, part, false, &in_row);
}

/* Pairwise in a digit. */
static pace_status to_all_of(pace_program *p, uint32_t stride, uint32_t extent, uint8_t wire, double part) {
    for (uint32_t step = 1; step < extent; step++) {
        PACE_TRY(pace_program_send(p, pace_peer_shift(stride, extent, step), wire, part));
        PACE_TRY(pace_program_receive(p, pace_peer_shift(stride, extent, -(int64_t)step), wire, part));
    }
    return PACE_OK;
}

/* What is for other nodes goes first to the device on the rail of where it is going (NCCL's PXN). */
static pace_status rails_to_all(pace_program *p, const sizes *q) {
    uint32_t nodes = q->ranks / q->group;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(to_all_of(p, 1, q->group, 0, q->bytes / q->group));
    return to_all_of(p, q->group, nodes, 1, q->bytes / nodes);
}

pace_status pace_program_rails(pace_program *p, const sizes *q) {
    if (!q->group || q->ranks % q->group)
        return pace_fail(PACE_E_INPUT, "%u ranks do not divide into nodes of %u", q->ranks, q->group);
    if (q->collective == PACE_ALLTOALL) return rails_to_all(p, q);
    bool done;
    PACE_TRY(pace_program_mesh_rails(&done, p, q));
    if (done) return PACE_OK;
    return two_levels(p, q, q->group, 1);
}

pace_status pace_program_torus(pace_program *p, const sizes *q) {
    return two_levels(p, q, (uint32_t)pace_torus_side((int)q->ranks), 0);
}

/* --- hypercubes (Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH", 2005) */

static pace_status swap(pace_program *p, pace_peer with, double bytes) {
    PACE_TRY(pace_program_send(p, with, 0, bytes));
    return pace_program_receive(p, with, 0, bytes);
}

static pace_status doubling(pace_program *p, const sizes *q, uint32_t ranks) {
    for (uint32_t mask = 1; mask < ranks; mask *= 2) {
        PACE_TRY(swap(p, pace_peer_xor(1, ranks, mask), q->bytes));
        PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, q->bytes));
    }
    return PACE_OK;
}

/* What `rank` keeps once partners up to `mask` have each kept one half. Where every rank ends with the block of its own
 * number, halves are the blocks whose numbers have a bit; else they lie together. */
static void at_half(pace_program *p, const sizes *q, uint32_t ranks, uint32_t rank, uint32_t mask) {
    uint32_t first = 0, left = ranks / (2 * mask);
    for (uint32_t bit = 1; bit <= mask; bit *= 2)
        if (rank & bit) first += ranks / (2 * bit);
    if (q->collective == PACE_ALLREDUCE) pace_program_at(p, first, left, 1, ranks);
    else pace_program_at(p, rank & (2 * mask - 1), left, 2 * mask, ranks);
}

/* Partners hand each other the half that the other keeps, or has. */
static pace_status swap_halves(pace_program *p, const sizes *q, uint32_t ranks, uint32_t mask, double bytes,
                               bool keep) {
    uint32_t viewer = pace_program_viewer(q), partner = viewer ^ mask;
    at_half(p, q, ranks, keep ? partner : viewer, mask);
    PACE_TRY(pace_program_send(p, pace_peer_xor(1, ranks, mask), 0, bytes));
    at_half(p, q, ranks, keep ? viewer : partner, mask);
    PACE_TRY(pace_program_receive(p, pace_peer_xor(1, ranks, mask), 0, bytes));
    if (keep) PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, bytes));
    pace_program_at_all(p);
    return PACE_OK;
}

/* Large pieces among neighbours. */
static pace_status halving(pace_program *p, const sizes *q, uint32_t ranks) {
    double bytes = q->bytes;
    for (uint32_t mask = 1; mask < ranks; mask *= 2) PACE_TRY(swap_halves(p, q, ranks, mask, bytes /= 2, true));
    return PACE_OK;
}

/* The same way back: far partners first, while there is little. */
static pace_status gather_doubling(pace_program *p, const sizes *q, uint32_t ranks) {
    double held = q->bytes / ranks;
    for (uint32_t mask = ranks / 2; mask; mask /= 2, held *= 2) PACE_TRY(swap_halves(p, q, ranks, mask, held, false));
    return PACE_OK;
}

static pace_status rabenseifner(pace_program *p, const sizes *q, uint32_t ranks) {
    PACE_TRY(halving(p, q, ranks));
    return gather_doubling(p, q, ranks);
}

static uint32_t power_below(uint32_t ranks) {
    uint32_t power = 1;
    while (power <= ranks / 2) power *= 2;
    return power;
}

/* The ranks above the greatest power of two hand their vector to one below it, and get the sum at the end. */
static pace_status folded_in(pace_program *p, const sizes *q,
                             pace_status (*core)(pace_program *, const sizes *, uint32_t ranks), uint32_t power) {
    uint32_t extra = q->ranks - power;
    pace_peer up = pace_peer_shift(1, q->ranks, power), down = pace_peer_shift(1, q->ranks, -(int64_t)power);
    for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank < extra ? 1 : rank < power ? 0 : 2;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(core(p, q, power));
    if (!extra) return PACE_OK;
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(pace_program_receive(p, up, 0, q->bytes));
    PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, q->bytes));
    PACE_TRY(core(p, q, power));
    PACE_TRY(pace_program_send(p, up, 0, q->bytes));
    PACE_TRY(pace_program_open_class(p));
    PACE_TRY(pace_program_send(p, down, 0, q->bytes));
    return pace_program_receive(p, down, 0, q->bytes);
}

static pace_status power_only(pace_program *p, const sizes *q,
                              pace_status (*core)(pace_program *, const sizes *, uint32_t ranks)) {
    if (q->ranks & (q->ranks - 1)) return pace_fail(PACE_E_INPUT, "%u ranks are no power of two", q->ranks);
    PACE_TRY(pace_program_open_class(p));
    return core(p, q, q->ranks);
}

pace_status pace_program_doubling(pace_program *p, const sizes *q) {
    return q->collective == PACE_ALLREDUCE ? folded_in(p, q, doubling, power_below(q->ranks))
                                           : power_only(p, q, gather_doubling);
}

pace_status pace_program_halving(pace_program *p, const sizes *q) { return power_only(p, q, halving); }
pace_status pace_program_rabenseifner(pace_program *p, const sizes *q) {
    return folded_in(p, q, rabenseifner, power_below(q->ranks));
}

/* --- k-nomial exchange: at each level everybody sends to and adds from the others of its group ------------------- */

static pace_status knomial(pace_program *p, const sizes *q, uint32_t ranks) {
    double bytes = q->bytes;
    for (uint32_t stride = 1; stride < ranks; stride *= PACE_KNOMIAL) {
        uint32_t extent = ranks / stride < PACE_KNOMIAL ? ranks / stride : PACE_KNOMIAL;
        for (uint32_t step = 1; step < extent; step++)
            PACE_TRY(pace_program_send(p, pace_peer_shift(stride, extent, step), 0, bytes));
        for (uint32_t step = 1; step < extent; step++)
            PACE_TRY(pace_program_receive(p, pace_peer_shift(stride, extent, -(int64_t)step), 0, bytes));
        PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, bytes * (extent - 1)));
    }
    return PACE_OK;
}

/* Ranks beyond the greatest m k^i fold in, m < k. */
pace_status pace_program_knomial(pace_program *p, const sizes *q) {
    uint32_t whole = 1;
    while (whole <= q->ranks / PACE_KNOMIAL) whole *= PACE_KNOMIAL;
    whole *= q->ranks / whole;
    return 2 * (uint64_t)whole >= q->ranks ? folded_in(p, q, knomial, whole)
                                           : pace_fail(PACE_E_INTERNAL, "k-nomial folding of %u ranks", q->ranks);
}

/* --- all to all -------------------------------------------------------------------------------------------------- */

/* What is on one place of all nodes: to every place of its own node, then of the next, and so on. */
static pace_status to_nodes(pace_program *p, const sizes *q, uint32_t place) {
    uint32_t of_node = q->group;
    PACE_TRY(pace_program_open_class(p));
    for (uint32_t step = 1; step < q->ranks; step++) {
        uint32_t nodes = step / of_node, places = step % of_node;
        int64_t ahead = (int64_t)nodes * of_node, there = (place + places) % of_node, here = place;
        int64_t back = (place + of_node - places) % of_node;
        PACE_TRY(pace_program_send(p, pace_peer_shift(1, q->ranks, ahead + there - here), 0, q->bytes / q->ranks));
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, q->ranks, back - here - ahead), 0, q->bytes / q->ranks));
    }
    return PACE_OK;
}

pace_status pace_program_pairwise(pace_program *p, const sizes *q) {
    bool masks = (q->ranks & (q->ranks - 1)) == 0; /* then whole nodes exchange with whole nodes */
    if (q->by_nodes && !masks && q->group > 1 && q->group < q->ranks) {
        for (uint32_t rank = 0; rank < q->ranks; rank++) p->class_of[rank] = rank % q->group;
        for (uint32_t place = 0; place < q->group; place++) PACE_TRY(to_nodes(p, q, place));
        return PACE_OK;
    }
    PACE_TRY(pace_program_open_class(p));
    for (uint32_t step = 1; step < q->ranks; step++) {
        pace_peer to = pace_peer_shift(1, q->ranks, step), from = pace_peer_back(to);
        if (masks) to = from = pace_peer_xor(1, q->ranks, step);
        PACE_TRY(pace_program_send(p, to, 0, q->bytes / q->ranks));
        PACE_TRY(pace_program_receive(p, from, 0, q->bytes / q->ranks));
    }
    return PACE_OK;
}

/* All sends are under way before the first receive; one kernel adds what has come. */
static pace_status send_to_all(pace_program *p, const sizes *q, double part, bool reduce) {
    uint32_t ranks = q->ranks, viewer = pace_program_viewer(q);
    for (uint32_t step = 1; step < ranks; step++) {
        pace_program_at(p, reduce ? viewer + step : viewer, 1, 1, ranks);
        PACE_TRY(pace_program_send(p, pace_peer_shift(1, ranks, step), 0, part));
    }
    for (uint32_t step = 1; step < ranks; step++) {
        pace_program_at(p, reduce ? viewer : viewer + ranks - step, 1, 1, ranks);
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, ranks, -(int64_t)step), 0, part));
    }
    return reduce ? pace_program_local(p, PACE_OPERATION_REDUCE, part * (ranks - 1)) : PACE_OK;
}

/* Where every pair of devices has links of its own, all messages leave at once: a lane for each partner. The first adds
 * when all have come; the others wait for it. */
static pace_status to_each(pace_program *p, const sizes *q, uint32_t step, double part) {
    uint32_t others = q->ranks - 1;
    pace_peer to = pace_peer_shift(1, q->ranks, step), from = pace_peer_shift(1, q->ranks, -(int64_t)step);
    bool both = q->collective == PACE_ALLREDUCE;
    PACE_TRY(step > 1 ? pace_program_open_lane(p) : pace_program_open_class(p));
    PACE_TRY(pace_program_send(p, to, 0, part));
    PACE_TRY(pace_program_receive(p, from, 0, part));
    for (uint32_t lane = 1; lane < others && step == 1 && q->collective != PACE_ALLTOALL && pace_program_reduces(q);
         lane++)
        PACE_TRY(pace_program_wait(p, lane, 1));
    if (step == 1 && q->collective != PACE_ALLTOALL && pace_program_reduces(q))
        PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, part * others));
    if (!both) return PACE_OK;
    if (step > 1) PACE_TRY(pace_program_wait(p, 0, others + 1)); /* send, receive, waits for others - 1, reduce */
    PACE_TRY(pace_program_send(p, to, 0, part));
    return pace_program_receive(p, from, 0, part);
}

pace_status pace_program_direct(pace_program *p, const sizes *q) {
    double part = q->bytes / q->ranks;
    if (q->machine && q->ranks > 1 && pace_machine_mesh_is_full(q->machine)) {
        for (uint32_t step = 1; step < q->ranks; step++) PACE_TRY(to_each(p, q, step, part));
        return PACE_OK;
    }
    PACE_TRY(pace_program_open_class(p));
    if (q->collective == PACE_ALLTOALL) return send_to_all(p, q, part, false);
    if (pace_program_reduces(q)) PACE_TRY(send_to_all(p, q, part, true));
    return pace_program_gathers(q) ? send_to_all(p, q, part, false) : PACE_OK;
}

/* Bruck et al. 1997. In step i a rank passes to the one 2^i before it the parts whose number has bit i. */
static pace_status bruck_to_all(pace_program *p, const sizes *q) {
    double part = q->bytes / q->ranks;
    for (uint32_t distance = 1; distance < q->ranks; distance *= 2) {
        uint32_t parts = 0;
        for (uint32_t i = 1; i < q->ranks; i++) parts += (i & distance) != 0;
        PACE_TRY(pace_program_send(p, pace_peer_shift(1, q->ranks, -(int64_t)distance), 0, parts * part));
        PACE_TRY(pace_program_receive(p, pace_peer_shift(1, q->ranks, distance), 0, parts * part));
    }
    return PACE_OK;
}

/* A digit of the ranks' numbers, whose every value has a part of the vector. */
typedef struct {
    uint32_t stride, extent;
    uint8_t wire;
    double part;
} digit;

/* A rank passes to the one `distance` before it, of an all-gather, what that has not of all it has so far. A
 * reduce-scatter goes the same way back: it passes to the one `distance` further the sums that are for that one and
 * those which will pass on to it. */
static pace_status bruck_step(pace_program *p, const sizes *q, const digit *d, uint32_t distance, bool reduce) {
    uint32_t parts = distance < d->extent - distance ? distance : d->extent - distance;
    uint32_t viewer = pace_program_viewer(q), sent = reduce ? viewer + distance : viewer;
    pace_peer before = pace_peer_shift(d->stride, d->extent, -(int64_t)distance), after = pace_peer_back(before);
    bool whole = d->extent == q->ranks; /* places are known */
    if (whole) pace_program_at(p, sent, parts, 1, q->ranks);
    PACE_TRY(pace_program_send(p, reduce ? after : before, d->wire, parts * d->part));
    if (whole) pace_program_at(p, reduce ? viewer : viewer + distance, parts, 1, q->ranks);
    PACE_TRY(pace_program_receive(p, reduce ? before : after, d->wire, parts * d->part));
    if (reduce) PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, parts * d->part));
    pace_program_at_all(p);
    return PACE_OK;
}

static pace_status bruck_of(pace_program *p, const sizes *q, const digit *d, bool reduce) {
    uint32_t most = 1;
    while (most < d->extent) most *= 2;
    for (uint32_t distance = 1; distance < d->extent && !reduce; distance *= 2)
        PACE_TRY(bruck_step(p, q, d, distance, false));
    for (uint32_t distance = most / 2; distance && reduce; distance /= 2) PACE_TRY(bruck_step(p, q, d, distance, true));
    return PACE_OK;
}

/* Of several nodes the ranks of a node first, then those of one place in all nodes: large parts stay inside. */
pace_status pace_program_bruck(pace_program *p, const sizes *q) {
    bool levels = q->group > 1 && q->ranks > q->group && q->ranks % q->group == 0;
    uint32_t near = levels ? q->group : q->ranks, far = q->ranks / near;
    const digit inside = {1, near, 0, q->bytes / near}, across = {near, far, 1, q->bytes / q->ranks};
    PACE_TRY(pace_program_open_class(p));
    if (q->collective == PACE_ALLTOALL) return bruck_to_all(p, q);
    if (pace_program_reduces(q)) {
        PACE_TRY(bruck_of(p, q, &inside, true));
        PACE_TRY(bruck_of(p, q, &across, true));
    }
    if (!pace_program_gathers(q)) return PACE_OK;
    PACE_TRY(bruck_of(p, q, &across, false));
    return bruck_of(p, q, &inside, false);
}

/* nccl-tests' sendrecv: everybody sends to the next. */
pace_status pace_program_message(pace_program *p, const sizes *q) {
    PACE_TRY(pace_program_open_class(p));
    if (q->ranks < 2) return PACE_OK;
    PACE_TRY(pace_program_send(p, pace_peer_shift(1, q->ranks, 1), 0, q->bytes));
    return pace_program_receive(p, pace_peer_shift(1, q->ranks, -1), 0, q->bytes);
}
