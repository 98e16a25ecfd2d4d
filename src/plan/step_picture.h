/*
 * The schedule that a closed form stands for, drawn: each turn of each stage as the closed form has it, walked
 * together. So steps of frameworks that are not lowered have a timeline, lanes and bubbles, too. Their number stays the
 * closed form's.
 */
#pragma once

#include "insight/analysis.h"
#include "plan/memory_over_time.h"
#include "plan/step_engine.h"

enum { PACE_DRAWN_STEPS = 2 }; /* the step is repeated: the last one starts as steps do that follow another */

/** Whether a published order takes the case's micro-batches; small enough to be looked at. */
bool pace_step_is_drawn(const pace_step_case *asked);

/** Draws the schedule of a settled case that is not walked, and what its stages hold meanwhile, so that the step takes
 * `lasts_s`. *stretch: how many times as long as the turns alone are all is drawn for that. `name` is borrowed as long
 * as *out. The case is drawn (pace_step_is_drawn()). */
pace_status pace_step_draw(pace_analysis *out, pace_memory_series *memory, double *stretch, pace_catalog *catalog,
                           const pace_step_solution *settled, const pace_step_case *asked, const char *name,
                           double lasts_s) PACE_MUST_CHECK;
