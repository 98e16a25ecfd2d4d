/* What a simulation of messages is made of: its lanes, and the queues between them. Inside of flows*.c. */
#pragma once

#include "exchange/fold.h"
#include "schedule/flows.h"

#include <math.h>

typedef struct {
    double now_ns;         /* its operations so far have ended */
    double out_ns, in_ns;  /* its ports are free */
    uint32_t cursor, last; /* next operation, and one past the last */
    uint32_t unit;
    uint32_t program_lane;
    uint32_t send_queues; /* first of its own in send_queue */
    uint32_t queues;      /* first of its own in queues */
} pace_flow_lane;

typedef struct {
    double at_ns, duration_ns; /* apart: its first byte comes in, and it takes; else it has come, and 0 */
    double bytes;
} pace_flow_message;

/* Messages from one lane to another, in order. Rarely more than one waits. */
typedef struct {
    pace_flow_message first; /* if there is one */
    uint32_t count;
    uint32_t head, tail; /* those behind the first, in the pool */
    uint32_t waiting;    /* the lane that waits for the next, + 1 */
    uint32_t lane;       /* whose it is */
    uint32_t region;     /* in which that is, where lanes are divided into regions */
} pace_flow_queue;

typedef struct {
    pace_flow_message message;
    uint32_t next; /* in its queue, or of the free ones */
} pace_flow_pooled;

typedef struct {
    PACE_VEC(pace_flow_pooled) items;
    uint32_t free; /* + 1; 0 = none */
} pace_flow_pool;

typedef struct {
    const pace_flows_question *question;
    const pace_program *program;
    pace_fold fold; /* a unit is a colour */

    pace_flow_lane *lanes;
    uint32_t lane_count;
    uint32_t *unit_lane; /* unit -> its first lane */

    uint32_t *slot;                       /* operation -> which of its lane's peers */
    uint32_t *send_first, *receive_first; /* program lane -> its first in the two following */
    PACE_VEC(uint32_t) send_peers;        /* indices in the program's peers */
    PACE_VEC(uint32_t) receive_peers;
    uint32_t *send_queue; /* lane's slot -> queue */
    uint32_t send_queue_count;
    pace_flow_queue *queues;
    uint32_t queue_count;

    uint32_t *published; /* operation -> 1 + its number among those of its class that others wait for; NULL = none */
    uint32_t *class_published; /* class -> how many */
    uint32_t *unit_published;  /* unit -> its first in the two following */
    double *ended_ns;          /* -1 = not yet */
    uint32_t *ended_waiting;   /* first lane that waits, + 1 */
    uint32_t *next_waiting;    /* lane -> the next that waits for the same, + 1 */

    pace_flow_pool messages; /* apart; else each region has its own */

    /* Where links are there but never shared, by send_queue: what a message meets on its way; NULL = its wire alone. */
    const double *way_latency_ns, *way_bytes_per_s;
    double *way_bytes; /* sent so far */

    uint64_t sent, simulated;
    double sent_bytes;
    uint32_t busiest_link; /* as in pace_flows_result */
    double busiest_bytes, busiest_rate;
} pace_flow_state;

/** Lays out lanes and queues. PACE_E_INPUT when a peer is no other rank, or never receives. */
pace_status pace_flow_state_init(pace_flow_state *state, const pace_flows_question *question,
                                 const pace_fold *fold) PACE_MUST_CHECK;
void pace_flow_state_free(pace_flow_state *state);

/** Appends a message to a queue that has one. */
pace_status pace_flow_post_behind(pace_flow_pool *pool, pace_flow_queue *queue,
                                  pace_flow_message message) PACE_MUST_CHECK;
/** The second message of a queue becomes the first. */
void pace_flow_move_up(pace_flow_pool *pool, pace_flow_queue *queue);

/** Appends a message to a queue, all of whose messages are of this pool. */
static inline PACE_MUST_CHECK pace_status pace_flow_post(pace_flow_pool *pool, pace_flow_queue *queue,
                                                         pace_flow_message message) {
    if (queue->count) return pace_flow_post_behind(pool, queue, message);
    queue->first = message;
    queue->count = 1;
    return PACE_OK;
}

/** Takes the first message off a queue. */
static inline void pace_flow_take(pace_flow_pool *pool, pace_flow_queue *queue) {
    if (--queue->count) pace_flow_move_up(pool, queue);
}

/** PACE_E_INPUT naming what waits for ever, or what was never received; PACE_OK when everything has run. */
pace_status pace_flow_finished(const pace_flow_state *state) PACE_MUST_CHECK;

/** A received message is of another size than the receive. */
pace_status pace_flow_mismatch(const pace_flow_state *state, const pace_flow_lane *lane, const pace_operation *receive,
                               double bytes);

/** Runs every lane, messages apart from each other. */
pace_status pace_flow_walk(pace_flow_state *state) PACE_MUST_CHECK;
/** Runs every lane, messages sharing the links of a fabric. `alike` false: nothing was run, since the state is folded
 * but its routes cannot be. */
pace_status pace_flow_share(bool *alike, pace_flow_state *state, const pace_fabric *fabric) PACE_MUST_CHECK;

/** What a message gets at most that has slow ends, or a wire: `way_bytes_per_s` is what its links would give it. */
static inline double pace_flow_limit(const pace_wire *wire, double slower, double way_bytes_per_s) {
    double limit = wire->ns_per_byte > 0 ? 1e9 / wire->ns_per_byte : (double)INFINITY;
    if (isinf(limit) && slower > 1) limit = way_bytes_per_s;
    return limit / slower;
}

/** One past the last of a lane's own in send_queue. */
static inline uint32_t pace_flow_slots_end(const pace_flow_state *state, uint32_t lane) {
    return lane + 1 < state->lane_count ? state->lanes[lane + 1].send_queues : state->send_queue_count;
}

/** How many times as long a message takes: the slower of its two ends. */
static inline double pace_flow_slower(const pace_flow_state *state, uint32_t from_unit, uint32_t to_unit) {
    const double *of = state->question->slowness;
    if (!of) return 1;
    double a = of[state->fold.first[from_unit]], b = of[state->fold.first[to_unit]];
    return a > b ? a : b;
}

static inline uint32_t pace_flow_rank(const pace_flow_state *state, const pace_flow_lane *lane) {
    return state->fold.first[lane->unit];
}
