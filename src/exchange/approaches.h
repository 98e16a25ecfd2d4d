/*
 * How frameworks exchange the gradients of a step: one row each of catalog/approaches.yaml, and the closed forms of
 * parameter servers, BytePS, MXNet's device store and PEARL. docs/exchange.md has the equations.
 */
#ifndef PACE_EXCHANGE_APPROACHES_H
#define PACE_EXCHANGE_APPROACHES_H

#include "exchange/exchange.h"

/* Parameter servers that push and pull synchronously. Rates are bytes/s of one direction; 0 = no limit. */
typedef struct {
    double bytes, largest_bytes; /* of all tensors, of the one that is not split; 0 = all are split evenly */
    int workers, servers;
    double worker_rate, server_rate, stream_rate, add_rate; /* stream: one connection of a pair; add: of a server */
    bool colocated;                                         /* servers run beside workers, one each */
    bool overlapped;                                        /* pulls of what is ready run beside pushes */
} pace_server_terms;

/** Push and pull: the slowest of a worker's NIC, the fan-in of the fullest server, one connection, and adding. */
double pace_parameter_server_s(const pace_server_terms *terms);

/** BytePS (Jiang et al., OSDI 2020): `hosts` with accelerators and `spare` ones without, all at `rate`: the optimal
 * split between them. spare = 0 is an all-reduce, spare = hosts moves every byte once each way. */
double pace_byteps_s(double bytes, int hosts, int spare, double rate);

typedef struct {
    const double *bytes; /* of each tensor, in the order they are exchanged; borrowed */
    size_t count;
} pace_gradients;

/** MXNet's device store on one node (src/kvstore/comm.h): tensors, largest first, each merged on the device with the
 * fewest bytes; all others copy to it and get the sum back. `add_rate` is of a device's memory. */
double pace_device_store_s(const pace_machine *machine, int ranks, const pace_gradients *gradients, double add_rate);

/** PEARL (Wang et al., IISWC 2019): dense parameters are all-reduced; embeddings are split over the ranks, rows that a
 * batch touches are gathered before use and their gradients reduced and scattered. */
pace_status pace_pearl_time(pace_estimate *out_s, const pace_exchange *exchange, double dense_bytes,
                            double touched_bytes) PACE_MUST_CHECK;

typedef struct {
    char name[24];
    bool server; /* else allreduce */
    bool nccl;   /* NCCL's model, else the textbook's closed forms */
    bool streams, serial;
    double copies, control_s, encode_s_per_byte, fuses_bytes, entry_queries, message_queries, query_s, switch_bytes;
} pace_approach;

typedef struct {
    PACE_VEC(pace_approach) rows;
} pace_approaches;

pace_status pace_approaches_load(pace_approaches *out) PACE_MUST_CHECK;
void pace_approaches_free(pace_approaches *approaches);
const pace_approach *pace_approach_find(const pace_approaches *approaches, const char *name);

/* What a framework is told beside the approach. */
typedef struct {
    int servers;      /* 0 = one beside every worker */
    bool local_first; /* the devices of a node add among themselves before one of them pushes */
    double copy_rate; /* bytes/s between device and host; must be above 0 */
} pace_approach_setup;

/** Seconds to exchange the gradients of one step on all devices of a machine. `exchange` must be open with the library
 * of the approach (NCCL or textbook). PACE_E_USAGE when it is not. */
pace_status pace_approach_time(pace_estimate *out_s, const pace_approach *approach, const pace_exchange *exchange,
                               const pace_gradients *gradients, const pace_approach_setup *setup) PACE_MUST_CHECK;

#endif
