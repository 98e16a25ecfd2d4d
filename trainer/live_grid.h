/* Which steps the closed loop trains. */
#pragma once

#include "live_state.h"

/** Reads the question and lists models x batches x ranks x approaches x links. PACE_E_USAGE for words that cannot
 * be. */
pace_status pace_live_grid(pace_live *live) PACE_MUST_CHECK;
