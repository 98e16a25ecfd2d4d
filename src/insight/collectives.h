/*
 * Collectives across ranks: which kernels of different ranks are one exchange, the ranks' clocks aligned on them, and
 * each exchange split into waiting for the last rank and transfer.
 */
#ifndef PACE_INSIGHT_COLLECTIVES_H
#define PACE_INSIGHT_COLLECTIVES_H

#include "insight/rank.h"

typedef struct {
    const char *name;              /* borrowed from the first rank's step */
    size_t first_part;             /* into parts: one per rank, in rank order */
    uint32_t last_rank;            /* index of the rank that started last */
    int64_t last_start_ns, end_ns; /* on the first rank's clock */
    int64_t wait_ns;               /* summed over ranks: waiting for the last */
    int64_t transfer_ns;           /* from the last start to the end */
    int64_t bytes;                 /* from metadata; -1 = unknown */
    const char *cause; /* why the last rank was late: the resource it spent most on beyond the others' mean; NULL */
    int64_t cause_ns;  /* and how much */
} pace_collective;

typedef struct {
    PACE_VEC(pace_collective) items; /* in the first rank's order */
    PACE_VEC(uint32_t) parts;        /* work item of each rank */
    size_t unmatched;                /* communication kernels without a partner on every rank */
} pace_collectives;

/** Matches by kernel name and order of occurrence, sets every rank's shift_ns and every work item's wait_until_ns. With
 * one rank nothing is matched. Call before pace_rank_tile(). */
pace_status pace_collectives_match(pace_collectives *out, pace_rank *const *ranks, size_t rank_count) PACE_MUST_CHECK;

/** Finds the causes; needs the ranks' tiles. */
void pace_collectives_explain(pace_collectives *collectives, pace_rank *const *ranks, size_t rank_count);
void pace_collectives_free(pace_collectives *collectives);

#endif
