/* What ranks can do together. */
#pragma once

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

/* What a collective is. To add one, write its number above and its row in collective.c; the rows of algorithms.c that
 * can do it say so and have its program. */
typedef struct {
    const char *name;
    const char *words; /* that say it, in letters alone, each between spaces; the longest word of a text counts */
    bool adds;         /* then the type of its elements matters */
    int passes;        /* of the vector past each rank: all but its own part goes by so often; 0: it goes whole, once */
    bool rooted;       /* from one rank, or to one */
    bool sends;        /* is made of messages that no rank passes on */
    bool of_parts;     /* traces count the part that one rank puts in, not the whole */
    int likeness;      /* a measured curve stands in for another's: the least number first */
} pace_collective_row;

extern const pace_collective_row pace_collective_rows[PACE_COLLECTIVES];

/** By name, as traces, nccl-tests, MPI and OSU write it ("all_reduce", "AllReduce", "ncclAllReduce",
 * "osu_allreduce"). False when unknown. */
bool pace_collective_find(pace_collective *out, const char *name);

/** Steps of a ring of so many ranks, and of an exchange that moves nothing: twice round, once, or a tree's levels. */
double pace_collective_steps(pace_collective collective, int ranks);
double pace_collective_hops(pace_collective collective, int ranks);

/** Bytes that cross a rank's link over those that are counted (nccl-tests' bus bandwidth). */
double pace_bus_factor(pace_collective collective, int ranks);
