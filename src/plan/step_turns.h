/* What formulas miss of PyTorch's steps: they are gone through turn by turn, or where there is one stage block by
 * block. */
#pragma once

#include "plan/step_time.h"
#include "plan/turn_walk.h"

/** What turns of all chunks take, stage by stage, and what stages have behind them, but for the exchange of gradients:
 * the caller's to free. */
pace_status pace_step_turn_times(pace_turn_times **out, const pace_step_plan *plan) PACE_MUST_CHECK;

/** Whether a step is gone through: not pipelines of many micro-batches, nor other frameworks' steps. */
bool pace_step_goes_through(const pace_step_plan *plan);

/** What a step takes longer, gone through, than pace_step_compose() makes of it: `turns_s` of a plan
 * that is complete but for it; 0 where it is not gone through. */
pace_status pace_step_turns_s(double *out_s, const pace_step_plan *plan) PACE_MUST_CHECK;
