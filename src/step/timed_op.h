/* An operation and how long it took where it was recorded. */
#pragma once

#include "step/op.h"

typedef struct {
    pace_op op;
    double time_s;
} pace_timed_op;
