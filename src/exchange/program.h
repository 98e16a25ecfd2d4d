/*
 * An exchange as a program: what every rank sends, receives, reduces and copies, in which order.
 *
 * Ranks of one class run the same operations and name their peers relative to themselves, so that a ring over any
 * number of ranks is one class. A class has one or more lanes. A lane does its operations in order:
 *
 *   send     leaves when the sends of its lane before it have left; the lane goes on at once
 *   receive  the lane waits until the message has come; messages of one rank to another are received in the order they
 *            were sent (of one channel: lanes that talk to the same peer need a channel each)
 *   reduce, copy, work   take time on the lane
 *   wait     until an operation of another lane of the same rank has ended
 *
 * A receive that a reduce follows, with nothing but receives between them, is added to what the rank has; any other
 * takes its place. schedule/flows.h says when each operation runs; collective/executor.h runs it.
 */
#pragma once

#include "base/memory.h"

typedef enum {
    PACE_OPERATION_SEND,
    PACE_OPERATION_RECEIVE,
    PACE_OPERATION_REDUCE,
    PACE_OPERATION_COPY,
    PACE_OPERATION_WORK,
    PACE_OPERATION_WAIT,
    PACE_OPERATION_KINDS
} pace_operation_kind;

extern const char *const pace_operation_names[PACE_OPERATION_KINDS];

/* Another rank, seen from a rank r. A rank number has digits: digit = (r / stride) % extent. Where several jobs run the
 * same program, ranks are numbered within a block of so many. */
typedef enum {
    PACE_PEER_RANK,  /* the rank `value` */
    PACE_PEER_SHIFT, /* r with its digit + value, modulo extent */
    PACE_PEER_XOR    /* r with its digit ^ value */
} pace_peer_kind;

typedef struct {
    uint8_t kind;
    uint16_t channel;
    uint32_t stride, extent, value;
    uint32_t block; /* 0 = all ranks */
} pace_peer;

typedef struct {
    uint8_t kind;  /* pace_operation_kind */
    uint8_t wire;  /* send, receive: which of the caller's wires it takes */
    uint32_t peer; /* send, receive: index in peers; wait: the lane of the class */
    double amount; /* bytes; work: nanoseconds; wait: the number of the operation in that lane */
} pace_operation;

/* Which part of the vector an operation is about: of its `of` equal blocks the `count` that begin with `first` and lie
 * `stride` apart, counted modulo `of`. */
typedef struct {
    uint32_t first, count, stride, of;
} pace_place;

typedef struct {
    uint32_t first, count; /* of operations */
} pace_program_lane;

typedef struct {
    uint32_t first_lane, lane_count;
    uint32_t ranks; /* how many ranks are of this class */
} pace_rank_class;

typedef struct {
    uint32_t rank_count;
    uint32_t *class_of; /* rank -> class */
    PACE_VEC(pace_rank_class) classes;
    PACE_VEC(pace_program_lane) lanes;   /* class by class */
    PACE_VEC(pace_operation) operations; /* lane by lane */
    PACE_VEC(pace_peer) peers;           /* each once */
    uint32_t *peer_slots;                /* hash table of peers: index + 1 */
    size_t peer_slot_count;
    bool viewed;                 /* by one rank, which executes its own operations */
    pace_place here;             /* of the operations that are appended next */
    PACE_VEC(pace_place) places; /* viewed: one an operation; those of other classes than the viewer's say nothing */
} pace_program;

/** An empty program of `ranks` ranks, at least 1, all in class 0 (which is still to be opened). */
pace_status pace_program_init(pace_program *program, uint32_t ranks) PACE_MUST_CHECK;
void pace_program_free(pace_program *program);

/** Opens the next class, and its first lane. Ranks are put in it by writing `class_of`. */
pace_status pace_program_open_class(pace_program *program) PACE_MUST_CHECK;
/** Opens the next lane of the last class. */
pace_status pace_program_open_lane(pace_program *program) PACE_MUST_CHECK;

/** Appends to the last lane. `bytes` at least 0. */
pace_status pace_program_send(pace_program *program, pace_peer to, uint8_t wire, double bytes) PACE_MUST_CHECK;
pace_status pace_program_receive(pace_program *program, pace_peer from, uint8_t wire, double bytes) PACE_MUST_CHECK;
/** REDUCE or COPY of so many bytes, WORK of so many nanoseconds. */
pace_status pace_program_local(pace_program *program, pace_operation_kind kind, double amount) PACE_MUST_CHECK;
/** Waits for operation number `operation` of lane number `lane` of the same class. */
pace_status pace_program_wait(pace_program *program, uint32_t lane, uint32_t operation) PACE_MUST_CHECK;

/** Counts the ranks of the classes and checks that everything named exists: classes, peers, waits; that amounts are
 * finite and not negative. PACE_E_INPUT names the first fault. Call once, at the end. */
pace_status pace_program_finish(pace_program *program) PACE_MUST_CHECK;

/** The peer of a rank. */
static inline uint32_t pace_peer_rank(const pace_peer *peer, uint32_t rank) {
    uint32_t block = peer->block ? rank - rank % peer->block : 0;
    if (peer->kind == PACE_PEER_RANK) return block + peer->value;
    uint32_t digit = (rank - block) / peer->stride % peer->extent;
    uint32_t other =
        peer->kind == PACE_PEER_XOR ? digit ^ peer->value : (uint32_t)(((uint64_t)digit + peer->value) % peer->extent);
    return rank - digit * peer->stride + other * peer->stride;
}

/** The peer that sees this rank as `peer`: who sends by a shift of 1 is seen by a shift of -1. */
pace_peer pace_peer_back(pace_peer peer);

static inline pace_peer pace_peer_shift(uint32_t stride, uint32_t extent, int64_t by) {
    int64_t value = by % (int64_t)extent;
    return (pace_peer){PACE_PEER_SHIFT, 0, stride, extent, (uint32_t)(value < 0 ? value + extent : value), 0};
}

static inline pace_peer pace_peer_xor(uint32_t stride, uint32_t extent, uint32_t mask) {
    return (pace_peer){PACE_PEER_XOR, 0, stride, extent, mask, 0};
}

static inline pace_peer pace_peer_of_rank(uint32_t rank) { return (pace_peer){PACE_PEER_RANK, 0, 1, 1, rank, 0}; }

/** Operations appended from here on are about these blocks; about the whole vector. */
static inline void pace_program_at(pace_program *program, uint32_t first, uint32_t count, uint32_t stride,
                                   uint32_t of) {
    program->here = (pace_place){first % of, count, stride, of};
}
static inline void pace_program_at_all(pace_program *program) { program->here = (pace_place){0, 1, 1, 1}; }

/* The blocks of a ring: the one that rank number i of the ring ends with is `each` (its `first` for i = 0), `step`
 * blocks further for every i. */
typedef struct {
    pace_place each;
    uint32_t step;
    uint32_t mine; /* the viewer's number on the ring */
} pace_ring_blocks;

/** n - 1 steps around the ring of one digit, each rank passing on a part of the vector; reducing it or not. `blocks`
 * may be NULL where nobody views the program. */
pace_status pace_program_around(pace_program *program, uint32_t stride, uint32_t extent, uint8_t wire, double part,
                                bool reduce, const pace_ring_blocks *blocks);

/** The shorter side of the most square grid of so many ranks. */
int pace_torus_side(int ranks);
