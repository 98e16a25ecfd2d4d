#include "exchange/program.h"

#include <math.h>

const char *const pace_operation_names[PACE_OPERATION_KINDS] = {"send", "receive", "reduce", "copy", "work", "wait"};

pace_status pace_program_init(pace_program *program, uint32_t ranks) {
    pace_program empty = {.rank_count = ranks, .here = {0, 1, 1, 1}};
    if (!ranks) return pace_fail(PACE_E_INPUT, "an exchange needs at least one rank");
    if (!PACE_MAKE(empty.class_of, ranks)) return PACE_E_MEMORY;
    *program = empty;
    return PACE_OK;
}

void pace_program_free(pace_program *program) {
    PACE_FREE(program->class_of, program->peer_slots);
    PACE_VEC_FREE(&program->classes, &program->lanes, &program->operations, &program->peers, &program->places);
    program->class_of = program->peer_slots = NULL;
}

pace_status pace_program_open_class(pace_program *program) {
    PACE_TRY(PACE_PUSH(&program->classes, ((pace_rank_class){.first_lane = (uint32_t)program->lanes.count})));
    return pace_program_open_lane(program);
}

pace_status pace_program_open_lane(pace_program *program) {
    PACE_TRY(PACE_PUSH(&program->lanes, ((pace_program_lane){.first = (uint32_t)program->operations.count})));
    program->classes.items[program->classes.count - 1].lane_count++;
    return PACE_OK;
}

static pace_status append(pace_program *program, pace_operation operation) {
    PACE_TRY(PACE_PUSH(&program->operations, operation));
    if (program->viewed) PACE_TRY(PACE_PUSH(&program->places, program->here));
    program->lanes.items[program->lanes.count - 1].count++;
    return PACE_OK;
}

static uint64_t hash_of(const pace_peer *peer) {
    uint64_t hash = ((uint64_t)peer->kind << 16 | peer->channel) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ peer->stride) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ peer->extent) * 0x94d049bb133111ebu;
    hash = (hash ^ peer->block) * 0x94d049bb133111ebu;
    hash = (hash ^ peer->value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static bool same(const pace_peer *a, const pace_peer *b) {
    return a->kind == b->kind && a->channel == b->channel && a->stride == b->stride && a->extent == b->extent &&
           a->value == b->value && a->block == b->block;
}

static uint32_t *slot_of(uint32_t *slots, size_t count, const pace_program *program, const pace_peer *peer) {
    size_t i = hash_of(peer) & (count - 1);
    while (slots[i] && !same(&program->peers.items[slots[i] - 1], peer)) i = (i + 1) & (count - 1);
    return &slots[i];
}

static pace_status grow_slots(pace_program *program) {
    size_t count = program->peer_slot_count ? 2 * program->peer_slot_count : 64;
    uint32_t *slots = pace_alloc(count, sizeof *slots);
    if (!slots) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < program->peers.count; i++)
        *slot_of(slots, count, program, &program->peers.items[i]) = i + 1;
    pace_free(program->peer_slots);
    program->peer_slots = slots;
    program->peer_slot_count = count;
    return PACE_OK;
}

static pace_status intern(uint32_t *out, pace_program *program, pace_peer peer) {
    if (2 * program->peers.count >= program->peer_slot_count) PACE_TRY(grow_slots(program));
    uint32_t *slot = slot_of(program->peer_slots, program->peer_slot_count, program, &peer);
    if (!*slot) {
        PACE_TRY(PACE_PUSH(&program->peers, peer));
        *slot = (uint32_t)program->peers.count;
    }
    *out = *slot - 1;
    return PACE_OK;
}

pace_peer pace_peer_back(pace_peer peer) {
    if (peer.kind == PACE_PEER_SHIFT && peer.value) peer.value = peer.extent - peer.value;
    return peer;
}

static pace_status message(pace_program *program, pace_operation_kind kind, pace_peer peer, uint8_t wire,
                           double bytes) {
    uint32_t number;
    PACE_TRY(intern(&number, program, peer));
    return append(program, (pace_operation){(uint8_t)kind, wire, number, bytes});
}

pace_status pace_program_send(pace_program *program, pace_peer to, uint8_t wire, double bytes) {
    return message(program, PACE_OPERATION_SEND, to, wire, bytes);
}

pace_status pace_program_receive(pace_program *program, pace_peer from, uint8_t wire, double bytes) {
    return message(program, PACE_OPERATION_RECEIVE, from, wire, bytes);
}

pace_status pace_program_local(pace_program *program, pace_operation_kind kind, double amount) {
    return append(program, (pace_operation){(uint8_t)kind, 0, 0, amount});
}

pace_status pace_program_wait(pace_program *program, uint32_t lane, uint32_t operation) {
    return append(program, (pace_operation){PACE_OPERATION_WAIT, 0, lane, operation});
}

static pace_status check_operation(const pace_program *program, const pace_rank_class *class,
                                   const pace_operation *operation, size_t number) {
    const char *kind = pace_operation_names[operation->kind];
    if (!(operation->amount >= 0) || isinf(operation->amount))
        return pace_fail(PACE_E_INPUT, "operation %zu, a %s: expected an amount of at least 0, found %g", number, kind,
                         operation->amount);
    if (operation->kind != PACE_OPERATION_WAIT) return PACE_OK;
    if (operation->peer >= class->lane_count)
        return pace_fail(PACE_E_INPUT, "operation %zu waits for lane %u: its ranks have %u", number, operation->peer,
                         class->lane_count);
    uint32_t count = program->lanes.items[class->first_lane + operation->peer].count;
    if (operation->amount >= count)
        return pace_fail(PACE_E_INPUT, "operation %zu waits for operation %.0f of lane %u, which has %u", number,
                         operation->amount, operation->peer, count);
    return PACE_OK;
}

static pace_status check_operations(const pace_program *program) {
    PACE_ITEMS (const pace_rank_class, class, &program->classes) {
        for (uint32_t l = class->first_lane; l < class->first_lane + class->lane_count; l++) {
            const pace_program_lane *lane = &program->lanes.items[l];
            for (uint32_t i = lane->first; i < lane->first + lane->count; i++)
                PACE_TRY(check_operation(program, class, &program->operations.items[i], i));
        }
    }
    return PACE_OK;
}

static pace_status check_digits(const pace_program *program) {
    PACE_ITEMS (const pace_peer, peer, &program->peers) {
        if (!peer->stride || !peer->extent)
            return pace_fail(PACE_E_INPUT, "a peer is a digit of %u values with stride %u; both must be at least 1",
                             peer->extent, peer->stride);
    }
    return PACE_OK;
}

pace_status pace_program_finish(pace_program *program) {
    for (uint32_t rank = 0; rank < program->rank_count; rank++) {
        if (program->class_of[rank] >= program->classes.count)
            return pace_fail(PACE_E_INPUT, "rank %u has class %u, but there are %zu", rank, program->class_of[rank],
                             program->classes.count);
        program->classes.items[program->class_of[rank]].ranks++;
    }
    PACE_TRY(check_digits(program));
    return check_operations(program);
}

/* The block that the rank `back` places before the viewer ends with. */
static void at_block(pace_program *p, uint32_t extent, const pace_ring_blocks *blocks, uint32_t back) {
    if (!blocks) return;
    uint32_t number = (blocks->mine + 2 * extent - back) % extent;
    pace_program_at(p, blocks->each.first + number * blocks->step, blocks->each.count, blocks->each.stride,
                    blocks->each.of);
}

pace_status pace_program_around(pace_program *p, uint32_t stride, uint32_t extent, uint8_t wire, double part,
                                bool reduce, const pace_ring_blocks *blocks) {
    for (uint32_t step = 1; step < extent; step++) {
        at_block(p, extent, blocks, step - !reduce);
        PACE_TRY(pace_program_send(p, pace_peer_shift(stride, extent, 1), wire, part));
        at_block(p, extent, blocks, step + reduce);
        PACE_TRY(pace_program_receive(p, pace_peer_shift(stride, extent, -1), wire, part));
        if (reduce) PACE_TRY(pace_program_local(p, PACE_OPERATION_REDUCE, part));
    }
    pace_program_at_all(p);
    return PACE_OK;
}

int pace_torus_side(int n) {
    int x = (int)sqrt((double)n);
    while (n % x) x--;
    return x;
}
