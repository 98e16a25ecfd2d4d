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
#ifndef PACE_SCHEDULE_FLOWS_H
#define PACE_SCHEDULE_FLOWS_H

#include "exchange/fabric.h"
#include "exchange/program.h"

typedef struct {
    double latency_ns;  /* from leaving to coming in */
    double overhead_ns; /* of the lane, for a send and for a receive */
    double gap_ns;      /* between two messages of a port */
    double ns_per_byte; /* a message alone */
} pace_wire;

typedef struct {
    const pace_program *program;
    const pace_wire *wires;
    size_t wire_count;
    double reduce_ns_per_byte, copy_ns_per_byte;
    const double *slowness;    /* per rank: its messages take as many times as long; NULL = 1 */
    const double *start_ns;    /* per rank: when it begins; NULL = 0 */
    const pace_fabric *fabric; /* NULL = messages do not meet, but for those of one rank's lanes */
    bool unfolded;             /* simulate every rank */
} pace_flows_question;

typedef struct {
    double end_ns;            /* of the last rank */
    uint32_t last_rank;       /* one that ends then */
    uint32_t simulated_ranks; /* fewer than there are where some are alike */
    uint64_t messages;        /* of all ranks */
    uint64_t simulated_messages;
    double bytes; /* sent by all ranks */
} pace_flows_result;

/** Runs the program. `rank_end_ns` (may be NULL) receives the end of every rank. PACE_E_INPUT when it cannot finish,
 * naming operations that wait for ever, when a message is never received, or is received as one of another size. */
pace_status pace_flows_run(pace_flows_result *out, const pace_flows_question *question,
                           double *rank_end_ns) PACE_MUST_CHECK;

#endif
