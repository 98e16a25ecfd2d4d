/*
 * What was found of NCCL's steady times, so that the next question about the same group finds it: on intervals between
 * two marks of sizes, of a group and of the groups on fewer nodes that it must not be faster than. Each thread
 * remembers a few groups by everything their times depend on; answers are the same with and without.
 */
#pragma once

#include "exchange/nccl.h"

/* Makes the curves of a group on so many nodes ready. */
typedef void (*pace_group_maker)(pace_nccl_group *out, const void *of, int nodes);

/* Everything that the times of a group depend on. */
typedef struct {
    const pace_nccl *chooser, *prices;
    const pace_machine *machine;
    pace_collective collective;
    int ranks_per_node, nodes;
    bool single_bytes; /* elements of one byte */
    pace_nccl_asked asked;
    pace_group_maker make;
    const void *of; /* what it is called with */
} pace_steady_question;

/* How NCCL exchanges a size. */
typedef struct {
    double time_s;           /* never falls as bytes and nodes grow; infinite where nothing is possible */
    double waiting_share;    /* of it */
    int algorithm, protocol; /* that NCCL chooses */
    double fastest_s;        /* of the fastest way; where belief alone counts, of the chosen one */
} pace_steady_answer;

void pace_steady_time(pace_steady_answer *out, const pace_steady_question *question, double bytes);

/** The fastest way at exactly this size, and its time. */
double pace_steady_fastest(int *algorithm, int *protocol, const pace_steady_question *question, double bytes);

/** The next of the numbers of nodes that more nodes must not be faster than, from 1 on. Where algorithms need powers of
 * two, the counts just below those, and below their halves and quarters, are the slowest: beyond 32 nodes these and the
 * powers alone are looked at. */
int pace_next_fewer_nodes(int nodes);
