/*
 * Horovod's way: every few milliseconds the ranks tell rank 0 which tensors are ready, rank 0 answers which are so
 * everywhere, and these are packed into one buffer, exchanged and unpacked. What exchanges a buffer is the difference
 * between the approaches.
 */
#pragma once

#include "over_mpi.h"

typedef struct pace_coordinator pace_coordinator;

typedef struct {
    pace_lane *lane;
    MPI_Comm comm;
    const char *what; /* how a buffer is exchanged, for traces */
    /** Memory for the buffer. Collective. */
    float *(*room)(void *context, size_t elements);
    /** In place: the sum over the ranks. Collective. */
    pace_result (*allreduce)(void *context, float *data, size_t elements);
    void *context;
} pace_coordinator_setup;

/** NULL with the lane's failure. Collective. */
pace_coordinator *pace_coordinator_open(const pace_coordinator_setup *setup);

/** Exchanges all tensors of a step. */
pace_result pace_coordinator_step(pace_coordinator *coordinator);

/** Frees all but the buffer. NULL is allowed. */
void pace_coordinator_close(pace_coordinator *coordinator);
