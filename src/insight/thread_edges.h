/* Which host threads were handed their work by others. Private to insight/. */
#pragma once

#include "schedule/replay.h"

/** A host thread that wakes after another went quiet was handed the work (the autograd thread at the backward pass): an
 * edge from the last segment of the thread that has been quiet the shortest. The window begins at `from_ns`. */
pace_status pace_segments_add_thread_edges(pace_replay *replay, const bool *on_device, int64_t from_ns) PACE_MUST_CHECK;
