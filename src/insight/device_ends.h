/* When the work of a device ended, over all its streams. Private to insight/. */
#pragma once

#include "insight/timeline/lane_merge.h"
#include "step/step.h"

typedef struct {
    int64_t end_ns; /* of this or an earlier segment of its stream: ascends */
    uint32_t segment;
    uint32_t first_issued; /* of this and all that end later: the task that was issued first */
} pace_device_end;

typedef struct {
    const pace_replay *replay;
    const pace_step *step;
    PACE_VEC(pace_device_end) ends; /* by end; at equal ends the highest stream first */
} pace_device_ends;

pace_status pace_device_ends_find(pace_device_ends *out, const pace_replay *replay, const pace_step *step,
                                  const bool *on_device) PACE_MUST_CHECK;
void pace_device_ends_free(pace_device_ends *ends);

/** The segment that ended last inside (after, until], of those issued by `issued_by`, not on the stream `not_lane`
 * (UINT32_MAX = none). Among the 256 that ended last: what a wait ends with is among few. */
uint32_t pace_device_ends_last(const pace_device_ends *ends, int64_t after, int64_t until, int64_t issued_by,
                               uint32_t not_lane);

/** Whether no stream has work at an instant that was in line at an earlier one. */
bool pace_device_ends_drained(const pace_device_ends *ends, int64_t issued_by, int64_t at_ns);
