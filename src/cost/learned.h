/* What was learned of a family of operations (learn.h): its series, their points and trees. */
#pragma once

#include "cost/base_time.h"
#include "cost/trees.h"

/* Rows of one device, kind, pass, precision and source. */
typedef struct {
    char device[48], kind[24], source[32];
    pace_pass pass;
    pace_precision precision;
    int element_bytes;
    uint32_t class_index;           /* of pace_learned.bases */
    uint32_t first, count;          /* of the points */
    float place[PACE_SAMPLE_PLACE]; /* of the device */
    float spread;
    float low[PACE_NEAREST_AXES], high[PACE_NEAREST_AXES]; /* of its points; set by pace_learned_ready() */
    pace_nearest near;
} pace_series;

typedef struct {
    pace_op_family family;
    PACE_VEC(pace_series) series;
    PACE_VEC(pace_base_time) bases; /* by class: a series' kind, pass, precision, on any device */
    PACE_VEC(float) points;         /* count x PACE_NEAREST_AXES */
    PACE_VEC(float) values;         /* ln(time / base) */
    pace_trees trees;
    float far_spread;               /* of what another device's answer is off, over its doubt */
    float far_share;                /* of the neighbours' value that another device inherits */
    float far_reach;                /* doublings of rate, bandwidth, multiprocessors over which devices are alike */
    float scale[PACE_NEAREST_AXES]; /* metric of the axes */
} pace_learned;
