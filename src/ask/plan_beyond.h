/* What lies beside what was asked of a plan: the other precision where nobody said one, and more nodes where none are enough. */
#pragma once

#include "ask/plan_place.h"

/** Where fp32 and autocast were searched: the fastest in the one that was not chosen, a->other. */
pace_status pace_plan_find_other(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;

/** Where no part of what is offered is done in time: the fewest nodes of the last machine that are, up to
 * PACE_PLAN_NODES_MOST times as many; a->enough. */
pace_status pace_plan_find_enough(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;
