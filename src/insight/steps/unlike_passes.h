/* Micro-batches of unlike length, where a recording has a pass over one as one piece of work. */
#pragma once

#include "insight/rank.h"

typedef struct {
    bool found;                /* on half of the ranks a pass that lasts long takes a third more than a short one */
    const char *name;          /* of the passes; borrowed from the rank's step */
    int64_t short_ns, long_ns; /* on the rank asked for: a tenth of its passes are shorter, a tenth longer */
} pace_unlike_passes;

/** Of the forward passes in usual steps; `rank` is an index. Not found where kernels are recorded. */
pace_status pace_unlike_passes_find(pace_unlike_passes *out, pace_rank *const *ranks, size_t count,
                                    size_t rank) PACE_MUST_CHECK;
