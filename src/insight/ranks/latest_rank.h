/*
 * The rank that makes the others wait. Where ranks meet in collectives alone it is the one that comes most after the
 * median member. Where stages pass messages it is the one that does most work of its own in a step, beyond the median
 * rank: in a pipeline a rank comes late to a collective because it waited for its neighbours. Warm-up steps and
 * outliers do not count: the report speaks of the others. Where another rank is the latest in each step, as by chance,
 * it is none (chance_lateness.h).
 */
#pragma once

#include "insight/ranks/collectives.h"

typedef struct {
    /* NULL = none makes the others wait for a hundredth of their time, or as long as another takes longer. */
    const pace_rank *rank;
    const pace_rank *shorter; /* such a one where another takes longer by more than that; else NULL */
    int64_t by_ns;  /* by how much it came after the median rank, or worked longer, all usual steps together */
    bool by_chance; /* none is late more than by chance: by_ns is what half of the ranks wait for whichever is */
    size_t ranks;   /* that are at least half as late */
    bool by_work;   /* ranks pass messages: by_ns is work */
    bool alone;     /* it works longer than those with which it shares parameters: it is slow, and not its stage */
    bool hidden;    /* half of the others compute meanwhile: they lose less than half of by_ns */
    size_t groups;  /* of ranks that meet, directly or through others; 1 = all do */
} pace_latest_rank;

/** Of ranks that are joined; `messages` says whether they pass any. */
pace_status pace_latest_rank_find(pace_latest_rank *out, pace_rank *const *ranks, size_t count,
                                  const pace_collectives *collectives, bool messages) PACE_MUST_CHECK;
