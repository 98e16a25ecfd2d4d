/* How far off the closed form of a step is: what its parts are known to, by how much the step hangs on each. */
#pragma once

#include "plan/step_time.h"

/** Standard deviation of ln(measured / predicted) of pace_step_compose() by formula: each part's, times the elasticity
 * of the step to it, and what is left, in quadrature. 0 when `spreads` are. */
double pace_step_spread(const pace_step_plan *plan, const pace_step_spreads *spreads);
