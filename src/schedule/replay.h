/*
 * The walk: when every segment of a set of lanes runs, given how long each takes and what it waits for.
 *
 * A lane does one segment at a time, in order. A segment starts when its lane predecessor has ended (plus `overlap`,
 * which is negative where the measurement overlapped), every dependency is met, and its own explicit delay is over.
 * Lanes are walked until they block; no global order is needed, and a schedule that cannot finish names what blocks.
 */
#pragma once

#include "base/memory.h"
#include "base/order.h"

#include <math.h>

#define PACE_NO_SEGMENT UINT32_MAX

enum { PACE_REPLAY_RESOURCES = 16, PACE_SEGMENT_DEPENDENCIES = 3 };

/* What decided a segment's start. */
enum { PACE_BOUND_BY_ORIGIN = 0, PACE_BOUND_BY_LANE = 1, PACE_BOUND_BY_DEPENDENCY = 2 /* + its index */ };

/* A step of millions of tasks has about as many: hence no padding, and no lane (pace_segment_lane() finds it). */
typedef struct __attribute__((packed, aligned(4))) {
    int64_t start_ns; /* measured */
    int64_t duration_ns;
    int64_t delay_ns; /* no edge explains this part of the gap before it */
    uint32_t task;
    uint32_t wait; /* the first of its waits + 1; 0 = it waits for its lane alone: most of a host's segments do */
    uint8_t resource, delay_resource, lag_resource; /* whose slowness the duration, delay and lags are */
    bool run; /* tasks of its lane that follow `task` without a pause are in it (insight/host_runs.h) */
} pace_segment;

/** When it was measured to end. */
static inline int64_t pace_segment_end(const pace_segment *s) { return s->start_ns + s->duration_ns; }

/* Something that a segment waits for beside the end of its lane predecessor; those of one segment are linked, by slot.
 * Slots 0 to PACE_SEGMENT_DEPENDENCIES - 1 are dependencies on other segments; PACE_WAIT_OVERLAP stands first and says
 * how far (<= 0) the segment began before its lane predecessor ended. */
enum { PACE_WAIT_OVERLAP = PACE_SEGMENT_DEPENDENCIES, PACE_WAITS_MOST = (1 << 28) - 1 /* of one replay */ };

typedef struct {
    int64_t lag_ns; /* from the dependency's end, or its start */
    uint32_t on;    /* PACE_NO_SEGMENT = nothing any more */
    uint32_t slot : 2;
    uint32_t from_start : 1; /* a launch, counted from the start of the call */
    uint32_t recorded : 1;   /* the trace names it; else it is inferred from times */
    uint32_t next : 28;      /* the segment's next wait + 1; 0 = none */
} pace_segment_wait;

typedef struct {
    PACE_VEC(pace_segment) segments; /* lane by lane */
    PACE_VEC(pace_segment_wait) waits;
    PACE_VEC(uint32_t) lane_first; /* lane -> first segment; one more at the end */
    int64_t origin_ns;             /* nothing starts before */
    bool short_of_memory; /* a dependency had no room: pace_replay_explain() fails, and so must who does without it */
} pace_replay;

void pace_replay_free(pace_replay *replay);

/** The lane of a segment: the last that begins at it or before, since empty ones begin where the next does. */
static inline uint32_t pace_segment_lane(const pace_replay *replay, uint32_t segment) {
    uint32_t low = 0;
    PACE_SEARCH(low, (uint32_t)replay->lane_first.count, middle, replay->lane_first.items[middle] <= segment);
    return low - 1;
}

/* A loop over what a segment waits for. */
#define PACE_WAITS(type, name, replay, segment)                                                   \
    for (type *name = (segment)->wait ? &(replay)->waits.items[(segment)->wait - 1] : NULL; name; \
         name = name->next ? &(replay)->waits.items[name->next - 1] : NULL)

/** What a segment waits for in a slot; NULL when nothing. */
const pace_segment_wait *pace_segment_wait_in(const pace_replay *replay, const pace_segment *segment, unsigned slot);

/** The same to be written to, made when there is none. NULL when memory is out. */
pace_segment_wait *pace_segment_own_wait(pace_replay *replay, pace_segment *segment, unsigned slot);

/** Adds a dependency in the first free slot; NULL when all are taken or memory is out. */
pace_segment_wait *pace_segment_depend(pace_replay *replay, pace_segment *segment, uint32_t on, int64_t lag_ns,
                                       bool from_start);

/** Sets overlaps and delays so that a run with unit factors reproduces the measured starts exactly. */
pace_status pace_replay_explain(pace_replay *replay) PACE_MUST_CHECK;

/** A time of a resource that takes `factor` of it. */
static inline int64_t pace_replay_scaled(int64_t ns, double factor) {
    if (factor == 1) return ns;
    return factor == 0 ? 0 : llround((double)ns * factor);
}

/** Runs with every duration, delay and lag multiplied by its resource's factor. `start_ns` (one per segment) receives
 * the starts, `bound` (may be NULL) what decided each. PACE_E_INPUT when the schedule cannot finish. */
pace_status pace_replay_run(const pace_replay *replay, const double factor[PACE_REPLAY_RESOURCES], int64_t *start_ns,
                            uint8_t *bound) PACE_MUST_CHECK;
