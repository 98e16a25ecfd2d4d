/* What ranks can do together. */
#ifndef PACE_EXCHANGE_COLLECTIVE_H
#define PACE_EXCHANGE_COLLECTIVE_H

#include <stdbool.h>

typedef enum {
    PACE_ALLREDUCE,
    PACE_ALLGATHER,
    PACE_REDUCESCATTER,
    PACE_ALLTOALL,
    PACE_BROADCAST,
    PACE_REDUCE,
    PACE_SENDRECV, /* one message */
    PACE_COLLECTIVES
} pace_collective;

extern const char *const pace_collective_names[PACE_COLLECTIVES];

/** By name, as traces, nccl-tests, MPI and OSU write it ("all_reduce", "AllReduce", "ncclAllReduce",
 * "osu_allreduce"). False when unknown. */
bool pace_collective_find(pace_collective *out, const char *name);

/** Whether it adds: then the type of its elements matters. */
bool pace_collective_adds(pace_collective collective);

#endif
