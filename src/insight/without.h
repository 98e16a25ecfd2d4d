/* How long a step would take if one resource took no time: the replay, bounded by what a device has to do. Private to
 * insight/. */
#pragma once

#include "insight/advice.h"
#include "insight/ranks/joint.h"

/* The step that was replayed, as far as it was walked. */
typedef struct {
    int64_t from_ns, to_ns;
    size_t mark; /* SIZE_MAX = the whole trace */
} pace_joint_window;

/** Sets the length of a step of rank `home` without each resource, from a joint replay of the step; `start` has when
 * each segment runs as it is. *uneven becomes true where rounds were left out of the step, and those that stand for
 * them take unlike times in a replay. */
pace_status pace_without_each(int64_t without_ns[PACE_ADVICES], bool *uneven, const pace_joint *joint,
                              const pace_rank *home, const pace_joint_window *window, int64_t *start) PACE_MUST_CHECK;

/** Sets the length of the same step if all of several resources took no time, one bit (1 << pace_advice) each; with
 * PACE_ADVICE_BALANCE among them ranks do not wait for each other. */
pace_status pace_without_all(int64_t *without_ns, bool *uneven, const pace_joint *joint, const pace_rank *home,
                             const pace_joint_window *window, unsigned resources) PACE_MUST_CHECK;
