/* A window of a measured rank as replayable segments with their edges. Private to insight/. */
#pragma once

#include "insight/rank.h"
#include "schedule/replay.h"

/* A communication item that is cut in two: `segment` lasts until the last rank arrived, the next one is the transfer.
 */
typedef struct {
    uint32_t item, segment;
} pace_arrival;

typedef PACE_VEC(pace_arrival) pace_arrivals;

/** Segments of everything that runs inside [from, to), edges and delays set. Communication that waited is cut where its
 * waiting ends. */
pace_status pace_segments_build(pace_replay *out, const pace_rank *rank, int64_t from_ns,
                                int64_t to_ns) PACE_MUST_CHECK;

/** The same of all `count` devices of one trace and the host they share (one rank alone: itself), with every
 * communication item cut and listed in its device's `arrivals`: appended to, the caller's to free even on failure. */
pace_status pace_segments_build_cut(pace_replay *out, pace_arrivals *arrivals, pace_rank *const *devices, size_t count,
                                    int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
