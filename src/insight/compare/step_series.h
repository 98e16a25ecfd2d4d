/* Steps in their order: what the few that take longer cost the run, and whether all take longer from one on. */
#pragma once

#include "base/change_point.h"
#include "insight/spread.h"

/* Warm-up apart. */
typedef struct {
    size_t steps, longer;   /* that did work; outliers longer than the typical step */
    int64_t run_ns;         /* of all steps together */
    int64_t excess_ns;      /* by how much the longer ones exceed the median, together */
    size_t worst;           /* mark of the longest */
    pace_resource resource; /* that it has most more of than the median step */
} pace_long_steps;

/* Steps of one level, then of another: more than a tenth apart, and not by chance (one case of twenty). */
typedef struct {
    bool found;
    size_t mark;                 /* the first of the second level */
    int64_t before_ns, after_ns; /* median steps */
    pace_resource resource;      /* whose time in a mean step changed most, by so much */
    int64_t resource_ns;
    double kernels_before, kernels_after; /* a step */
} pace_step_shift;

/** `spread` is the rank's. Where the steps have two levels, none is longer than usual. */
pace_status pace_step_shift_find(pace_step_shift *out, const pace_rank *rank,
                                 const pace_spread *spread) PACE_MUST_CHECK;
pace_long_steps pace_long_steps_of(const pace_rank *rank, const pace_spread *spread);
