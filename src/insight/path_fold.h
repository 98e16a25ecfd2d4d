/* The path through a step of which rounds of micro-batches were left out (pace_step_fold). Private to insight/. */
#pragma once

#include "insight/critical.h"

/** Puts into the path of a rank's step what was left out of it: its length and sums are the whole step's, and with
 * `pieces` those, too; they are the whole step's from its own beginning on. Sets path->uneven where its two rounds are
 * not alike. */
pace_status pace_path_unfold(pace_critical *path, const pace_rank *rank, bool pieces) PACE_MUST_CHECK;
