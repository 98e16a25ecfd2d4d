/*
 * When every operation of an exchange's program runs: the event loop for messages between ranks. Double nanoseconds.
 *
 * Without a fabric a message has its wire for itself and only waits for the ports of its lanes: it leaves when the
 * messages its lane sent before have left, and comes in when those its receiver's lane takes before have come in
 * (LogGP: Alexandrov et al., SPAA 1995; Hockney's model is the one with latency and bytes only). With a fabric, and
 * where ranks have several lanes, messages under way share links max-min fairly (exchange/rates.h).
 *
 * Ranks that are alike are simulated once (exchange/fold.h).
 */
#pragma once

#include "exchange/fabric.h"
#include "exchange/program.h"

typedef struct {
    double latency_ns;  /* from leaving to coming in */
    double overhead_ns; /* of the lane, for a send and for a receive */
    double gap_ns;      /* between two messages of a port */
    double ns_per_byte; /* a message alone */
} pace_wire;

/* Traffic of others, all the while: at most this rate, less where links are full. */
typedef struct {
    uint32_t from, to; /* ranks */
    double bytes_per_s;
} pace_background;

/* When an operation ran. */
typedef struct {
    double start_ns, end_ns; /* start: the operation of its lane before it has ended */
    double amount;           /* as in pace_operation */
    uint32_t rank, lane;     /* of the rank's class */
    uint32_t peer;           /* send, receive: the rank */
    uint8_t kind;            /* pace_operation_kind */
} pace_flow_entry;

/* A rank that was simulated, and for how many it stands. */
typedef struct {
    uint32_t rank, alike;
} pace_flow_logged_rank;

/* Which operations ran when, for whoever wants to look at them. */
typedef struct {
    size_t limit;                          /* room for about so many entries; set by the caller */
    PACE_VEC(pace_flow_entry) entries;     /* those of a lane by time */
    PACE_VEC(pace_flow_logged_rank) ranks; /* whose operations are kept: the first, as many as there is room for */
    size_t ranks_left_out;                 /* that were simulated, too */
    size_t per_lane;                       /* so many of each lane are kept */
} pace_flow_log;

static inline void pace_flow_log_free(pace_flow_log *log) { PACE_VEC_FREE(&log->entries, &log->ranks); }

typedef struct {
    const pace_program *program;
    const pace_wire *wires;
    size_t wire_count;
    double reduce_ns_per_byte, copy_ns_per_byte;
    const double *slowness;            /* per rank: its messages take as many times as long; NULL = 1 */
    const double *start_ns;            /* per rank: when it begins; NULL = 0 */
    const pace_fabric *fabric;         /* NULL = messages do not meet, but for those of one rank's lanes */
    const pace_background *background; /* with a fabric only; nothing is folded then */
    size_t background_count;
    bool unfolded;      /* simulate every rank */
    pace_flow_log *log; /* NULL = what ran when is not kept */
} pace_flows_question;

typedef struct {
    double end_ns;            /* of the last rank */
    uint32_t last_rank;       /* one that ends then */
    uint32_t simulated_ranks; /* fewer than there are where some are alike */
    uint64_t messages;        /* of all ranks */
    uint64_t simulated_messages;
    double bytes; /* sent by all ranks */
    /* With a fabric: the link that carried most of what it could, one of several that are alike. */
    uint32_t busiest_link;
    double busiest_bytes, busiest_share; /* of its capacity times the end; 0 = nothing was sent over links */
} pace_flows_result;

/* With a fabric a message's latency is its wire's and the fabric's own. Its rate is at most its wire's, or where that
 * takes no time a byte, what its way would give it alone, divided by the slowness of the slower end. */

/** Runs the program. `rank_end_ns` (may be NULL) receives the end of every rank. PACE_E_INPUT when it cannot finish,
 * naming operations that wait for ever, when a message is never received, or is received as one of another size. */
pace_status pace_flows_run(pace_flows_result *out, const pace_flows_question *question,
                           double *rank_end_ns) PACE_MUST_CHECK;
