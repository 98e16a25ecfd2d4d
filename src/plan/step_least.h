/* A bound for searches: less than this no step takes. */
#pragma once

#include "plan/step_turns.h"

/** What the step of an outline whose passes have prices takes at least: no more than pace_step_compose()'s total, with
 * turns_s, whatever its exchanges of gradients and messages take. */
double pace_step_least_s(const pace_step_plan *plan);
