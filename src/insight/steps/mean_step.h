/* The mean step of a rank, by stage and resource. */
#pragma once

#include "insight/rank.h"

typedef struct {
    size_t steps; /* that did work; 0 = none: the matrix is of the whole trace */
    pace_matrix matrix;
} pace_mean_step;

/** Of all steps from number `first` on: 0 = all. */
pace_mean_step pace_mean_step_of(const pace_rank *rank, size_t first);

/** The mean of the steps that are neither warm-up nor outliers (insight/spread.h). */
pace_status pace_usual_step_of(pace_mean_step *out, const pace_rank *rank) PACE_MUST_CHECK;
