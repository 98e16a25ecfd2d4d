/* A recorded step's order of work across streams, for what-ifs that take the host's time away: without it nothing but
 * the host kept apart what the recording shows one after the other. */
#pragma once

#include "forecast/variant.h"

/** Lets each launch of a recorded step wait for what other streams had last ended before it began: what did not overlap
 * in the recording does not overlap now. Where the device stood still before work that was in line already, or whose
 * launch is not recorded, the host was not what it waited for as far as anybody knows: it stands still again. Launches
 * must be those of the recording, none merged. */
pace_status pace_keep_recorded_order(pace_variant *variant, const pace_step *recorded) PACE_MUST_CHECK;
