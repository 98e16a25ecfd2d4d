/* How long each rank takes for each step of its own: without waiting for other ranks. */
#pragma once

#include "insight/analysis.h"

typedef struct {
    size_t rank_count, step_count;
    const char **labels; /* of the reported rank's steps; borrowed */
    int64_t *own_ns;     /* rank by rank, in the order of the analysis; -1 = the rank has no such step */
} pace_rank_steps;

/** The steps of `reported`, and those of the same number of all ranks. */
pace_status pace_rank_steps_of(pace_rank_steps *out, const pace_analysis *analysis,
                               const pace_rank *reported) PACE_MUST_CHECK;
void pace_rank_steps_free(pace_rank_steps *steps);

/** A step's device interval by resource: PACE_RESOURCES of them. */
void pace_step_by_resource(int64_t *out, const pace_rank *rank, size_t mark);
