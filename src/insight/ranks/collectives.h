/*
 * Collectives across ranks: which kernels of different ranks are one exchange, and each exchange split into waiting for
 * the last rank and transfer.
 */
#pragma once

#include "insight/rank.h"

typedef struct {
    const char *name;              /* borrowed from the first rank's step */
    size_t first_part;             /* into parts: one per rank, in rank order; PACE_NO_TASK = takes no part */
    uint32_t members;              /* ranks that take part */
    uint32_t last_rank;            /* index of the rank that started last */
    int64_t last_start_ns, end_ns; /* on the first rank's clock */
    int64_t wait_ns;               /* summed over ranks: waiting for the last */
    int64_t margin_ns;             /* by how much the last came after the one before; 0 = nobody was late: no more than
                                      the ranks' ends disagree, which is how well their clocks are known */
    int64_t transfer_ns;           /* from the last start to the end */
    int64_t bytes;                 /* from metadata; -1 = unknown */
    const char *cause; /* why the last rank was late: the resource it spent most on beyond the others' mean; NULL */
    int64_t cause_ns;  /* and how much */
} pace_measured_collective;

typedef struct {
    PACE_VEC(pace_measured_collective) items; /* in the order of their lowest rank */
    PACE_VEC(uint32_t) parts;                 /* work item of each rank */
    size_t unmatched;    /* kernels of a group's lowest rank without a partner on its other ranks */
    bool groups_unknown; /* the traces do not say which ranks exchange together, nor do times: nothing is matched */
} pace_collectives;

/** Matches by kernel name, group where the trace names its members, number of the step where annotations say it, and
 * order of occurrence. Messages are left out.
 * With one rank nothing is matched. */
pace_status pace_collectives_match(pace_collectives *out, pace_rank *const *ranks, size_t rank_count) PACE_MUST_CHECK;

/** How many of them have a moment at which all members take part; needs the ranks' clocks. */
size_t pace_collectives_that_meet(const pace_collectives *collectives, pace_rank *const *ranks, size_t rank_count);

/** Where clocks (insight/ranks/clocks.h) show that some matched kernels never ran at the same time, as in recordings
 * that lack some, matches all by time instead of by order, if no fewer meet so. */
pace_status pace_collectives_recheck(pace_collectives *collectives, pace_rank *const *ranks,
                                     size_t rank_count) PACE_MUST_CHECK;

/** Splits each into waiting and transfer and sets its work items' wait_until_ns; needs the ranks' clocks
 * (insight/ranks/clocks.h). Call before pace_rank_tile(). */
void pace_collectives_split(pace_collectives *collectives, pace_rank *const *ranks, size_t rank_count);

/** By how much each rank came after the median member, summed over all collectives (one figure a rank): what half of
 * the members wait for it at least, whoever else is late with it. Less than the clocks' accuracy counts for nothing.
 * `row` (one a collective) says to which of the `rows` of figures it is added, -1 = to none; NULL = all to the only
 * one. */
pace_status pace_collectives_lateness(int64_t *out_ns, const pace_collectives *collectives, pace_rank *const *ranks,
                                      size_t rank_count, const ptrdiff_t *row, size_t rows) PACE_MUST_CHECK;

/** Finds the causes; needs the ranks' tiles. */
pace_status pace_collectives_explain(pace_collectives *collectives, pace_rank *const *ranks,
                                     size_t rank_count) PACE_MUST_CHECK;
void pace_collectives_free(pace_collectives *collectives);
