/* Execution traces of many ranks replayed on a machine's links, their collectives message by message. Files
 * NAME.RANK.et of one NAME are one workload; so are those whose names differ in a number and whose exchanges are the
 * same. */
#pragma once

#include "ask/engine_options.h"
#include "base/estimate.h"
#include "exchange/machine_fabric.h"
#include "source/inputs.h"

typedef struct {
    char name[256];
    size_t ranks, nodes_read;
    pace_estimate time_s;
    double work_s;                     /* of the rank that has most */
    char bottleneck[PACE_FABRIC_NAME]; /* the busiest link; "" = none was used */
    double busiest_share, sent_bytes;
    uint64_t messages;
    size_t guessed; /* pieces of work that a recording gives neither a time nor an amount: as long as usual */
    size_t apart;   /* exchanges as long as they were recorded: not all their ranks are here */
} pace_replayed_workload;

typedef struct {
    pace_texts paths;
    pace_machine machine;
    PACE_VEC(pace_replayed_workload) workloads;
} pace_replay_asked;

/** Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE without a machine, or for more ranks
 * than it has devices; PACE_E_INPUT for files that are no execution traces, or work that cannot be priced. */
pace_status pace_replay_ask(pace_replay_asked *out, const char *const *paths, size_t count,
                            const pace_simulate_options *options) PACE_MUST_CHECK;
void pace_replay_asked_free(pace_replay_asked *asked);
