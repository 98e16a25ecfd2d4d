/* A window of a measured rank as replayable segments with their edges. Private to insight/. */
#ifndef PACE_INSIGHT_SEGMENTS_H
#define PACE_INSIGHT_SEGMENTS_H

#include "insight/rank.h"
#include "schedule/replay.h"

/** Segments of everything that runs inside [from, to), edges and delays set. */
pace_status pace_segments_build(pace_replay *out, const pace_rank *rank, int64_t from_ns,
                                int64_t to_ns) PACE_MUST_CHECK;

#endif
