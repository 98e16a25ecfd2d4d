/* Which rounds of micro-batches a step may be walked without (model/pipeline_fold.h), as far as its launches tell
 * before it is walked. */
#pragma once

#include "forecast/forecast.h"
#include "model/pipeline_fold.h"
#include "plan/step_case.h"

/** The fold of a case's step in one of PACE_FOLD_TRIES attempts; its queues hold so many rounds, 0 = not known. Nothing
 * is left out (times = 0) where rounds are not alike. */
pace_pipeline_fold pace_folded_walk_of(const pace_step_case *asked, unsigned attempt, uint32_t queued);

/** Whether hosts run ahead until their queues are full, by the closed form. */
bool pace_folded_walk_fills(const pace_step_plan *plan);

/** Whether the queues, which hold so many rounds, are not filled and emptied among the rounds that are walked. */
pace_status pace_folded_walk_is_short(bool *out, const pace_step_case *asked, const pace_pipeline_fold *fold,
                                      uint32_t queued) PACE_MUST_CHECK;

/** Finds the rounds of all ranks of a folded step, and how many the queues hold: where they fill and that was not known
 * (0), *steady = false if the fold is too short for them. */
pace_status pace_folded_walk_find(bool *steady, pace_forecast *forecast, uint32_t *queued, const pace_step_case *asked,
                                  const pace_pipeline_fold *fold, bool fills) PACE_MUST_CHECK;
