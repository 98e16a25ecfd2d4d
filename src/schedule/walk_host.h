/* A host thread of a walk: what its operators and calls take, in the order of the graph. */
#pragma once

#include "schedule/walk_part.h"

/** Adds the lane of a thread, all repeats of it. `open` has room for all nodes. */
pace_status pace_walk_compile_thread(pace_walk_part *part, uint32_t thread, uint32_t *open) PACE_MUST_CHECK;
