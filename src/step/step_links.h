/* The parts of pace_step_finish() that fill the tables beside the columns. Private to step/. */
#pragma once

#include "step/step.h"

/** Fills step->waits, and `on` of every step->syncs, from synchronisation records and from calls that say by their
 * name what they wait for. Tasks must be sorted, causes linked, correlations still there. */
pace_status pace_step_link_waits(pace_step *step) PACE_MUST_CHECK;

/** Puts step->long_tasks in the order of their tasks. */
void pace_step_order_long_tasks(pace_step *step);

/** Of a `numbered` step, where what takes no time has no place by its times. `external`: of an operator or annotation
 * its number (from 1), of a call and of device work that of its operator; `correlation` of an operator or annotation:
 * the number of the one around it. 0 = none. Puts what has no length below what it is in, and fills step->made_for. */
pace_status pace_step_link_numbers(pace_step *step) PACE_MUST_CHECK;

/** Fills step->gradients from autograd's notes and arrows, and frees these. Tasks must be sorted. */
pace_status pace_step_link_gradients(pace_step *step) PACE_MUST_CHECK;
