/* The nearest of many points in a few dimensions, under any scaling of the axes: a k-d tree (Bentley 1975). */
#pragma once

#include "base/memory.h"

enum { PACE_NEAREST_AXES = 6, PACE_NEAREST_MOST = 32 };

/* No group, or several. */
#define PACE_NEAREST_MIXED UINT32_MAX

/* Of a range of the tree: the least index of a point, and the group of all its points. */
typedef struct {
    uint32_t least, group;
} pace_nearest_range;

typedef struct {
    const float *points;        /* count x PACE_NEAREST_AXES, borrowed */
    const uint32_t *groups;     /* a group per point, borrowed; NULL = none */
    uint32_t *order;            /* the tree: the middle of each range splits it along its axis */
    uint8_t *axis;              /* by place in `order` */
    pace_nearest_range *ranges; /* of the range that a place splits */
    size_t count;
    unsigned axes;
} pace_nearest;

pace_status pace_nearest_build(pace_nearest *out, const float *points, const uint32_t *groups, size_t count,
                               unsigned axes) PACE_MUST_CHECK;
void pace_nearest_free(pace_nearest *tree);

/** The `most` (at most PACE_NEAREST_MOST) points nearest to `at`, leaving out those of group `but` (UINT32_MAX: none
 * left out); distances squared, after scaling axis i by scale[i] >= 0. Ascending; ties by index. Returns how many. */
unsigned pace_nearest_find(uint32_t *indices, double *distances, const pace_nearest *tree, const float *at,
                           const double *scale, uint32_t but, unsigned most);
