/* Studies: many trainings by one command, side by side. Each is a run of this program of its own. */
#pragma once

#include "base/status.h"

/** Answers a question of train that names a study. Errors: PACE_E_USAGE for an unknown study, PACE_E_MISSING where the
 * program cannot be found, and what its first run failed with when all did. */
pace_status pace_train_study(pace_answer **out, pace_context *context, const pace_question *question) PACE_MUST_CHECK;
