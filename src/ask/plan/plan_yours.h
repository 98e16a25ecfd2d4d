/* A plan that begins at the user's own configuration: what it fixes and takes, and what each change of it gains. */
#pragma once

#include "ask/plan/plan_place.h"

/** Reads the file of `from`, if there is one: the options are then with what it fixes (batch, sequence, precision, and
 * the model where the question names none), unless the question says other. a->most_devices is set. PACE_E_USAGE
 * without a model, and for questions that a file cannot go with; errors of pace_launcher_read(). */
pace_status pace_plan_yours_read(pace_plan_asked *a) PACE_MUST_CHECK;

/** Answers the file's configuration, and every field of it changed alone: a->yours, a->changes. */
pace_status pace_plan_yours_improve(pace_plan_asked *a) PACE_MUST_CHECK;
