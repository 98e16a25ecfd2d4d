/*
 * An all-reduce by MPI of vectors that lie on devices: the messages, and what the library does around them (Awan et
 * al., CCGRID 2019): where partial sums are added, copies through the host, queries whether an address is on a device.
 */
#pragma once

#include "exchange/exchange.h"

/* Where partial sums are added. */
typedef enum {
    PACE_ADDS_FASTER, /* whichever is faster: libraries are tuned, by size and ranks, for each cluster */
    PACE_ADDS_DEVICE, /* by a kernel at each step */
    PACE_ADDS_HOST,   /* the vector is copied to the host, and the sum back */
    PACE_ADDS_PLACES
} pace_adds_place;

extern const char *const pace_adds_place_names[PACE_ADDS_PLACES];

/* How a library does it, from catalog/approaches.yaml. */
typedef struct {
    int adds;      /* pace_adds_place */
    int algorithm; /* row of pace_exchange_algorithms that is always taken; PACE_ANY: the fastest of those MPI has */
    double device_add_s;                            /* of an addition on a device beside its bytes: launch, wait */
    double host_add_s_per_byte, stage_s;            /* stage_s: of a copy to or from the host beside its bytes */
    double entry_queries, message_queries, query_s; /* asking the driver where an address lies */
} pace_mpi;

/* Seconds of one all-reduce. */
typedef struct {
    double messages_s, adding_s, staging_s, queries_s;
    int algorithm; /* row of pace_exchange_algorithms */
    bool on_host;  /* where it added */
} pace_mpi_allreduce;

static inline double pace_mpi_allreduce_s(const pace_mpi_allreduce *a) {
    return a->messages_s + a->adding_s + a->staging_s + a->queries_s;
}

/** `exchange` must be open with the textbook's algorithms. `copy_rate`: bytes/s between device and host. Errors: those
 * of pace_exchange_time(). */
pace_status pace_mpi_allreduce_find(pace_mpi_allreduce *out, const pace_mpi *mpi, const pace_exchange *exchange,
                                    int ranks_per_node, int nodes, double bytes, double copy_rate) PACE_MUST_CHECK;
