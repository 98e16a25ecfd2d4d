/*
 * What the ranks of a pipeline's stage hold while a walked step goes on: its states, and the activations of every
 * micro-batch from the end of its forward pass to the end of the pass that needs them last.
 */
#pragma once

#include "insight/analysis.h"
#include "plan/step_time.h"

typedef struct {
    int64_t at_ns; /* from the start of the step */
    double held_bytes;
} pace_memory_point;

typedef PACE_VEC(pace_memory_point) pace_memory_points; /* free with PACE_VEC_FREE() */

/* Of the last step of every stage that was walked; held_bytes stands from its instant to the next. */
typedef struct {
    pace_memory_points *stages;
    size_t count;
} pace_memory_series;

/** `graphs`: one a stage. Free with pace_memory_series_free(). */
pace_status pace_memory_series_of(pace_memory_series *out, const pace_analysis *walked, const pace_graph *const *graphs,
                                  size_t count, const pace_step_plan *plan) PACE_MUST_CHECK;
void pace_memory_series_free(pace_memory_series *series);

/** The fullest point; NULL = there is none. */
const pace_memory_point *pace_memory_fullest(const pace_memory_points *points);
