/* Stages from autograd's links: what the trace itself says is forward and backward. Private to insight/. */
#pragma once

#include "insight/steps/steps.h"

/* Times in which linked operators of one stage follow one another within a step, by start. */
typedef struct {
    int64_t from_ns, to_ns;
    ptrdiff_t mark; /* the step, as pace_marks_at() */
    uint8_t stage;
} pace_stage_run;

typedef PACE_VEC(pace_stage_run) pace_stage_runs;

/** Sets the stage of linked operators: backward, forward, and recompute for a forward operator that a linked backward
 * operator encloses. */
void pace_stages_mark_linked(pace_step *step);

/** The runs of the linked operators, once their stages are set. Empty without links. */
pace_status pace_stage_runs_find(pace_stage_runs *out, const pace_step *step, const pace_marks *marks) PACE_MUST_CHECK;

/** Whether another forward run lies between a backward operator and the run of what it differentiates: micro-batches
 * take turns, as in a pipeline. With gradient accumulation each is followed by its own backward pass. */
bool pace_stage_runs_cross(const pace_stage_runs *runs, const pace_step *step, const pace_gradient *gradient);

/** The stage at a host instant, from the runs around it, or PACE_STAGE_NONE when they do not tell. Inside a run it is
 * the run's. In a step, what stands before a forward or backward run belongs to the forward pass, what stands behind
 * the last backward run is update; where runs are interleaved, nothing is said between them. */
uint8_t pace_stage_between(const pace_stage_runs *runs, const pace_marks *marks, int64_t host_ns, bool interleaved);
