/* One clock for all ranks, from what they exchange. */
#pragma once

#include "insight/ranks/collectives.h"
#include "insight/ranks/messages.h"

/** Sets every rank's shift_ns, so that its clock agrees with the first rank's.
 *
 * Ranks leave a collective together: the median difference of their ends is the clocks' difference. Ranks that share no
 * collective are joined by their messages: a receive ends when its send does, or later where the send went into a
 * buffer, so the least difference of ends in one direction bounds the clocks' difference from above, that of the other
 * direction from below, and the middle is taken. Ranks that share nothing keep the wall clock their traces name. */
pace_status pace_clocks_align(pace_rank *const *ranks, size_t rank_count, const pace_collectives *collectives,
                              const pace_messages *messages) PACE_MUST_CHECK;

/* Kernels of one exchange end within some microseconds on clocks that agree; clocks are aligned to as many. */
enum { PACE_TOGETHER_NS = 20000 };

/** Sets every rank's shift_ns by the wall clock that its trace names. */
void pace_clocks_by_wall(pace_rank *const *ranks, size_t rank_count);
