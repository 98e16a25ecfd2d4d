/* The waits a trace records, as edges of the replay. Private to insight/. */
#pragma once

#include "schedule/replay.h"
#include "step/step.h"

/** Adds step->waits between the segments of a replay; `first_segment` gives each task's first, PACE_NO_SEGMENT =
 * outside. Call before the edges that are inferred, so that these add only what is missing. */
void pace_segments_add_waits(pace_replay *replay, const pace_step *step, const uint32_t *first_segment);

/** Whether the next segment is a later part of the same task. */
bool pace_segment_goes_on(const pace_replay *replay, uint32_t segment);
