/*
 * Workers that are slow together: a bad node, a rack behind a slow link, half of a job on older devices. Who is slowest
 * is hardly behind the next one then, and what the group costs does not show (variability.h).
 *
 * Workers are sorted by their usual pace (the logarithm) and split where the parts' means explain most of its variance
 * (Fisher, JASA 1958, for two parts). The split holds if the means differ by 3 % and by five standard errors of a pace,
 * and if the parts are apart: the step between the slowest of the fast part and the fastest of the slow part is half of
 * what the means differ by, at least. In n paces spread evenly it is 2 / (n - 1) of that. Each part is then split
 * again.
 */
#pragma once

#include "fleet/variability.h"

typedef struct {
    size_t first, count; /* of `order` */
    double pace;         /* times as long as the fastest group */
    double step;         /* of the job, were this group and all slower ones as fast as the fastest group */
    double saved_share;  /* of the job's time, then */
} pace_slow_group;

typedef struct {
    size_t *order; /* workers whose pace is known, the fastest first */
    size_t count;
    PACE_VEC(pace_slow_group) groups; /* the fastest first; a single one: all are alike */
} pace_slow_groups;

/** Groups the workers that `found` describes, which must be of `data`. Fewer than 20 iterations are one group. */
pace_status pace_slow_groups_of(pace_slow_groups *out, const pace_iterations *data,
                                const pace_variability *found) PACE_MUST_CHECK;
void pace_slow_groups_free(pace_slow_groups *groups);

/** The group of a worker, 0 = the fastest; also of one that was never compared. */
size_t pace_slow_group_of(const pace_slow_groups *groups, size_t worker);
