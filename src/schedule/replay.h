/*
 * The walk: when every segment of a set of lanes runs, given how long each takes and what it waits for.
 *
 * A lane does one segment at a time, in order. A segment starts when its lane predecessor has ended (plus `overlap`,
 * which is negative where the measurement overlapped), every dependency is met, and its own explicit delay is over.
 * Lanes are walked until they block; no global order is needed, and a schedule that cannot finish names what blocks.
 */
#pragma once

#include "base/memory.h"

#define PACE_NO_SEGMENT UINT32_MAX

enum { PACE_REPLAY_RESOURCES = 16, PACE_SEGMENT_DEPENDENCIES = 3 };

/* What decided a segment's start. */
enum { PACE_BOUND_BY_ORIGIN = 0, PACE_BOUND_BY_LANE = 1, PACE_BOUND_BY_DEPENDENCY = 2 /* + its index */ };

typedef struct {
    int64_t start_ns; /* measured */
    int64_t duration_ns;
    int64_t delay_ns; /* no edge explains this part of the gap before it */
    uint32_t task, lane;
    uint32_t waits; /* its entry in `waits` + 1; 0 = it waits for its lane alone: most of a host's segments do */
    uint8_t resource, delay_resource, lag_resource; /* whose slowness the duration, delay and lags are */
    bool run; /* tasks of its lane that follow `task` without a pause are in it (insight/host_runs.h) */
} pace_segment;

/** When it was measured to end. */
static inline int64_t pace_segment_end(const pace_segment *s) { return s->start_ns + s->duration_ns; }

/* What a segment waits for beside its lane predecessor. */
typedef struct {
    int64_t overlap_ns;                             /* <= 0: how far it began before its lane predecessor ended */
    int64_t lag_ns[PACE_SEGMENT_DEPENDENCIES];      /* from the dependency's end, or its start */
    uint32_t dependency[PACE_SEGMENT_DEPENDENCIES]; /* PACE_NO_SEGMENT = none */
    uint8_t from_start;                             /* a bit each. Set: a launch, counted from the start of the call */
    uint8_t recorded; /* a bit each. Set: the trace names it; else it is inferred from times */
} pace_segment_waits;

extern const pace_segment_waits pace_waits_for_nothing;

typedef struct {
    PACE_VEC(pace_segment) segments; /* lane by lane */
    PACE_VEC(pace_segment_waits) waits;
    PACE_VEC(uint32_t) lane_first; /* lane -> first segment; one more at the end */
    int64_t origin_ns;             /* nothing starts before */
    bool short_of_memory; /* a dependency had no room: pace_replay_explain() fails, and so must who does without it */
} pace_replay;

void pace_replay_free(pace_replay *replay);

/** What a segment waits for; to be read only. */
static inline const pace_segment_waits *pace_segment_waits_of(const pace_replay *replay, const pace_segment *segment) {
    return segment->waits ? &replay->waits.items[segment->waits - 1] : &pace_waits_for_nothing;
}

/** The same to be written to: an entry of its own, made when there is none. NULL when memory is out. */
pace_segment_waits *pace_segment_own_waits(pace_replay *replay, pace_segment *segment);

/** Adds a dependency and returns its place, or -1 when all are taken or memory is out. */
int pace_segment_depend(pace_replay *replay, pace_segment *segment, uint32_t on, int64_t lag_ns, bool from_start);

/** Sets overlaps and delays so that a run with unit factors reproduces the measured starts exactly. */
pace_status pace_replay_explain(pace_replay *replay) PACE_MUST_CHECK;

/** Runs with every duration, delay and lag multiplied by its resource's factor. `start_ns` (one per segment) receives
 * the starts, `bound` (may be NULL) what decided each. PACE_E_INPUT when the schedule cannot finish. */
pace_status pace_replay_run(const pace_replay *replay, const double factor[PACE_REPLAY_RESOURCES], int64_t *start_ns,
                            uint8_t *bound) PACE_MUST_CHECK;
