/* From the segments of a walk back to tasks: what a trace of the predicted step would hold. */
#pragma once

#include "schedule/replay.h"
#include "schedule/walk_rank.h"

#define PACE_NOBODY UINT32_MAX

enum { PACE_WALK_QUEUE = 2 }; /* the dependency of a launch on what makes room for it in the device's queue */

/* What a segment is part of. */
typedef struct {
    uint32_t rank;   /* PACE_NOBODY = nobody's */
    uint32_t repeat; /* of the step */
    uint32_t node;   /* host segments: the node; else PACE_NO_NODE */
    uint32_t launch; /* the launch it issues or runs, or PACE_NO_LAUNCH */
    int64_t call_ns; /* issuing: the part at its end that is the runtime call */
} pace_walk_place;

/* When everything of each rank ran; the ranks' graphs must outlive it, segments need not. */
typedef struct pace_walk_extents pace_walk_extents;

pace_status pace_walk_extents_of(pace_walk_extents **out, const pace_walk_rank *ranks, size_t count, unsigned repeats,
                                 const pace_replay *replay, const pace_walk_place *places,
                                 const int64_t *start_ns) PACE_MUST_CHECK;
void pace_walk_extents_free(pace_walk_extents *extents);

/** A finished step per rank; see pace_walk(). */
pace_status pace_walk_steps(pace_step *out, pace_walk_extents *extents) PACE_MUST_CHECK;
