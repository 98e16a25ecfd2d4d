/* Whether what ranks keep in the memory of their hosts can lie there. */
#pragma once

#include "plan/step_plan.h"

/** Fills host_bytes of an outlined plan, as far as it offloads. Errors: PACE_E_USAGE with the need where a node's host
 * has less, and for a device or a model that has nothing to offload. */
pace_status pace_offload_check(pace_step_plan *plan, const pace_step_place *place) PACE_MUST_CHECK;
