/*
 * How closely a drawing of several traces shows each stretch of time. A page has room for so many slices: the steps
 * that matter most are shown task by task, elsewhere short neighbours are merged.
 */
#pragma once

#include "insight/analysis.h"
#include "insight/timeline/timeline_zone.h"

/* Those of a trace: of each lane, for lanes differ in how long their tasks are, and of what is drawn of the trace as a
 * whole (stages, resources, critical path). */
typedef struct {
    pace_zones *lanes;
    size_t lane_count;
    pace_zones summary;
} pace_trace_zones;

/* How much is drawn. */
typedef struct {
    size_t whole_slices;  /* at most so many of stretches that are shown task by task */
    size_t merged_slices; /* and about so many of all others */
} pace_zone_limits;

/** The zones of each trace, trace_count of them. First come step `mark` of `reported` (SIZE_MAX: all of it), the step
 * of the same number on the other traces, the other steps of `reported`, then those of the other traces. When all tasks
 * have room, all are shown. */
pace_status pace_zones_plan(pace_trace_zones **out, pace_rank *const *traces, size_t trace_count,
                            const pace_rank *reported, size_t mark, const pace_zone_limits *limits) PACE_MUST_CHECK;

void pace_zones_free(pace_trace_zones *zones, size_t trace_count);
