/* Whether a step fits into its device's memory, and what would make it fit. */
#pragma once

#include "ask/step_ask.h"

enum { PACE_REMEDY_TEXT = 160 };

/** The settings, as "--set micro_batch=8 --set recompute=full", nearest to the ones asked for with which the closed form says that the
 * step fits: the other recomputation, smaller micro-batches, then ranks that the machine still has. Empty: none found. */
pace_status pace_step_remedy(char out[PACE_REMEDY_TEXT], pace_step_asked *step, pace_catalog *catalog) PACE_MUST_CHECK;
