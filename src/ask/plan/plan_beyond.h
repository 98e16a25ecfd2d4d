/* What lies beside what was asked of a plan: the other precision and another framework where the question named none,
 * and more nodes where none are enough. */
#pragma once

#include "ask/plan/plan_place.h"

/** Where fp32 and autocast were searched: the fastest in the one that was not chosen, a->other. */
pace_status pace_plan_find_other(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;

/** Where nobody named a framework, of a model of sequences: the fastest on the chosen machine of all other frameworks
 * with lines of their own in catalog/launchers.yaml; a->framed, a->framework. */
pace_status pace_plan_find_framework(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;

/** Where no part of what is offered is done in time: of each machine the fewest nodes that are, up to
 * PACE_PLAN_NODES_MOST times as many, at the batch of what is offered; of these the cheapest, without prices that of
 * the fewest devices; a->enough. */
pace_status pace_plan_find_enough(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;
