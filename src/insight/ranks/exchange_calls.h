/* Where the host is the device, ranks exchange on threads of their library, in ranges it names: who asked for them, as
 * edges of the replay. Private to insight/. */
#pragma once

#include "schedule/replay.h"
#include "step/step.h"

/** Lets the range of an exchange wait for the operator of PyTorch that asked for it ("c10d::allreduce_"): the last one
 * on another thread that began before the range and that no other range has. `first_segment` gives each task's
 * first. */
pace_status pace_segments_add_exchange_calls(pace_replay *replay, const pace_step *step,
                                             const uint32_t *first_segment) PACE_MUST_CHECK;
