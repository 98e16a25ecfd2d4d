/* What lies beside what was asked of a plan: half precision where nobody said one, and more nodes where none are enough. */
#pragma once

#include "ask/plan_place.h"

/** With fp32 that nobody asked for on devices with matrix units: the fastest in autocast, a->half. */
pace_status pace_plan_find_half(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;

/** Where no part of what is offered is done in time: the fewest nodes of the last machine that are, up to
 * PACE_PLAN_NODES_MOST times as many; a->enough. */
pace_status pace_plan_find_enough(pace_plan_asked *a, const char *name) PACE_MUST_CHECK;
