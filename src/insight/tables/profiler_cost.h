/* What the profiler costs the host per event it records, guessed from one trace alone. */
#pragma once

#include "base/estimate.h"
#include "insight/rank.h"

/**
 * The median is in ns. The shortest times from the start of one host event without children to the start of the next
 * hold hardly any work, so that they go with what recording costs; by how much the whole cost exceeds them is a figure
 * of catalog/frameworks.yaml, measured where both were known. 0 when the trace has too few events to tell.
 */
pace_status pace_profiler_cost_guess(pace_estimate *out, pace_catalog *catalog, const pace_rank *rank) PACE_MUST_CHECK;
