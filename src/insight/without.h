/* How long a step would take if one resource took no time: the replay, bounded by what a device has to do. Private to
 * insight/. */
#pragma once

#include "insight/advice.h"
#include "insight/ranks/joint.h"

/** Sets the length of the step [from, to) of rank `home` without each resource, from a joint replay of the step;
 * `first`: it is the first of the trace; `start` has when each segment runs as it is, and is written over. Takes the
 * joint apart: the last run is of ranks that do not wait for each other. */
pace_status pace_without_each(int64_t without_ns[PACE_ADVICES], pace_joint *joint, const pace_rank *home,
                              int64_t from_ns, int64_t to_ns, bool first, int64_t *start) PACE_MUST_CHECK;

/** Sets the length of the same step if all of several resources took no time, one bit (1 << pace_advice) each. With
 * PACE_ADVICE_BALANCE among them it takes the joint apart. */
pace_status pace_without_all(int64_t *without_ns, pace_joint *joint, const pace_rank *home, int64_t from_ns,
                             int64_t to_ns, bool first, unsigned resources, int64_t *start) PACE_MUST_CHECK;
