/* What a drawing shows of a lane: tasks, or runs of neighbours too short for the zone
 * (insight/timeline/timeline_zones.h). */
#pragma once

#include "insight/timeline/timeline_zone.h"
#include "step/step.h"

/* One task, or `count` consecutive tasks of the lane from `first` on, what they enclose included. */
typedef struct {
    int64_t start_ns, end_ns;
    uint32_t first, count;
    uint32_t longest; /* of them */
} pace_drawn;

typedef PACE_VEC(pace_drawn) pace_drawn_slices;

/** Replaces *out by what is shown of a lane, by start, enclosing tasks before enclosed ones. */
pace_status pace_lane_cut(pace_drawn_slices *out, const pace_step *step, const pace_lane *lane,
                          const pace_zones *zones) PACE_MUST_CHECK;

/* Anything else that stands in a row: tiles of one stage or resource, pieces of a path. */
typedef struct {
    int64_t start_ns, end_ns;
    uint32_t key;
} pace_span;

typedef pace_span (*pace_span_fn)(const void *context, size_t index);

/* Touching spans of one key, or a run of short ones. */
typedef struct {
    int64_t start_ns, end_ns;
    size_t count;   /* short ones; 1 = none was merged */
    size_t longest; /* index of the one that lasts longest */
} pace_drawn_span;

typedef PACE_VEC(pace_drawn_span) pace_drawn_spans;

/** Replaces *out by what is shown of `count` spans, which come by start. Touching ones of one key are joined. */
pace_status pace_spans_cut(pace_drawn_spans *out, pace_span_fn at, const void *context, size_t count,
                           const pace_zones *zones) PACE_MUST_CHECK;
