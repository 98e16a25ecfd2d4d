/* Less than this no step takes: by prices, a bound for searches; by peaks, the end of every interval. */
#pragma once

#include "plan/step_turns.h"

/** What the step of an outline whose passes have prices takes at least: no more than pace_step_compose()'s total, with
 * turns_s, whatever its exchanges of gradients and messages take. */
double pace_step_least_s(const pace_step_plan *plan);

/** What the products of a step take at the peak of the device: no step takes less, whatever hides behind what. What is
 * recomputed is left out, since who does not say so may not recompute. 0 = no peak is known. */
double pace_step_peak_s(const pace_step_plan *plan);
