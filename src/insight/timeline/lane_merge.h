/* The segments of many lanes in one order of time. Private to insight/. */
#pragma once

#include "schedule/replay.h"

typedef enum { PACE_MERGE_BY_START, PACE_MERGE_BY_END } pace_merge_order;

typedef struct {
    const pace_replay *replay;
    pace_merge_order order;
    uint32_t *heap; /* lanes, the one whose segment is next on top */
    size_t count;
    uint32_t *next; /* lane -> its next segment */
    uint32_t lane;  /* of the segment given last */
    int64_t *at_ns; /* lane -> its time; never before that of the one before it on the lane */
} pace_lane_merge;

/** Merges the lanes for which on_device[lane] == device; all lanes must be closed (`lane_first` has one more). */
pace_status pace_lane_merge_open(pace_lane_merge *out, const pace_replay *replay, const bool *on_device, bool device,
                                 pace_merge_order order) PACE_MUST_CHECK;
void pace_lane_merge_free(pace_lane_merge *merge);

/** The next segment and its time; at equal times that of the highest lane first. PACE_NO_SEGMENT: no more. */
uint32_t pace_lane_merge_next(int64_t *at_ns, pace_lane_merge *merge);
