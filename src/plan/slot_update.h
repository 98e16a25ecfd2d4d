/* What an optimizer's step takes, and a gradient on its way into a bucket. */
#pragma once

#include "model/lower_ops.h"
#include "plan/step_place.h"

/* An optimizer's step over all tensors of the model. */
typedef struct {
    double launches, least_s;      /* its kernels, and what they take of no parameters */
    double tensors;                /* that it visits before its first call, which the host begins so much later; and */
    double visits_s, visit_each_s; /* for each tensor that there are more */
} pace_slot_update;

/** A gradient divided by the number of ranks on its way into a bucket, as pace_lower_gradient() does. */
pace_status pace_slot_fill_s(double *seconds, double elements, const pace_lowering *to,
                             const pace_step_place *place) PACE_MUST_CHECK;

/** Kernels of an update, as many, and what they take however few parameters they update. */
pace_status pace_slot_update_least(pace_slot_update *update, double kernels, const pace_config *config,
                                   const pace_step_place *place) PACE_MUST_CHECK;

/** Tensors that an update visits, whose host takes `issued_s` without. */
pace_status pace_slot_update_visits(pace_slot_update *update, double issued_s, const pace_graph *graph, double tensors,
                                    const pace_step_host *host) PACE_MUST_CHECK;
