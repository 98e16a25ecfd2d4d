/* Whether files belong together: one run, steps of equal number, clocks. */
#pragma once

#include "insight/rank.h"

/** PACE_E_INPUT when the traces say that they are of different runs: world sizes that differ, ranks beyond them,
 * times that lie far apart. */
pace_status pace_runs_check(pace_rank *const *traces, size_t count) PACE_MUST_CHECK;

typedef enum {
    PACE_STEPS_ALIGN,
    PACE_STEPS_PARTLY, /* a rank lacks steps that the first has, or the other way round */
    PACE_STEPS_APART   /* a rank shares no step with the first */
} pace_step_alignment;

/** Compares the numbers of annotated steps with those of the first rank; `*rank` is the first that does not align. */
pace_status pace_steps_compare(pace_step_alignment *out, size_t *rank, pace_rank *const *ranks,
                               size_t count) PACE_MUST_CHECK;

/** How far a rank's clock was moved beyond what the wall clocks of the traces say. */
int64_t pace_clock_moved_ns(const pace_rank *first, const pace_rank *rank);
