/* The mean step of a rank, by stage and resource. */
#pragma once

#include "insight/rank.h"

typedef struct {
    size_t steps; /* that did work; 0 = none: the matrix is of the whole trace */
    pace_matrix matrix;
} pace_mean_step;

pace_mean_step pace_mean_step_of(const pace_rank *rank);
