/* What ranks keep in the memory of their hosts. */
#pragma once

#include "plan/step_plan.h"

#define PACE_HOST_MEMORY_HINT "host-memory=4TB behind the machine's name says that the host has more"

/** Fills host_bytes and host_has_bytes of an outlined plan, as far as it offloads. Errors: PACE_E_USAGE for a device or
 * a model that has nothing to offload. */
pace_status pace_offload_check(pace_step_plan *plan, const pace_step_place *place) PACE_MUST_CHECK;
/** The same for a search: where that fits by a bound of it, host_bytes is the bound. */
pace_status pace_offload_screen(pace_step_plan *plan, const pace_step_place *place) PACE_MUST_CHECK;
