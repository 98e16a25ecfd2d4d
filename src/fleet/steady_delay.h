/* What being last costs outside slow spells, and whether it is always the same worker: of equal ones, too, somebody is
 * last in every iteration, and one of them most often. */
#pragma once

#include "fleet/variability.h"

typedef struct {
    size_t worker;    /* who cost most, and what; in the unit of the times */
    double lost;      /* 0: nobody was last outside spells */
    double all_lost;  /* by all workers */
    bool by_chance;   /* somebody costs as much by chance in more than one case of twenty, or nothing tells */
    size_t iteration; /* the one that cost most, by whom, and what */
    size_t worst_worker;
    double worst_lost;
    double lost_share, all_lost_share, worst_share; /* of the job's time, both; of what all lost */
} pace_steady_delay;

/** Of what `found` describes, which must be of `data`. */
pace_status pace_steady_delay_of(pace_steady_delay *out, const pace_iterations *data,
                                 const pace_variability *found) PACE_MUST_CHECK;
