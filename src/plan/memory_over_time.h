/*
 * What the ranks of a pipeline's stage hold while a walked step goes on: its states, and the activations of every micro-batch
 * from the end of its forward pass to the end of the pass that needs them last.
 */
#pragma once

#include "insight/analysis.h"
#include "plan/step_time.h"

typedef struct {
    int64_t at_ns; /* from the start of the step */
    double held_bytes;
} pace_memory_point;

typedef PACE_VEC(pace_memory_point) pace_memory_points; /* free with PACE_VEC_FREE() */

/** Of the last step of a stage (from 0) that was walked as this rank; held_bytes stands from its instant to the next. `graph`
 * is what was walked; none where it has no turns, or was edited since it was lowered. */
pace_status pace_memory_over_time(pace_memory_points *out, const pace_rank *walked, const pace_graph *graph,
                                  const pace_step_plan *plan, uint32_t stage) PACE_MUST_CHECK;

/* The same of every stage. */
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
