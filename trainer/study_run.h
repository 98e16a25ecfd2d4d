/* One training as a process of its own, and what it answered. */
#pragma once

#include "base/status.h"
#include "paceline/train.h"

/** Runs the program with these words and fills the row with its figures, or its status with why it failed: a run that
 * fails is a row too. `words` ends with NULL. Free its texts with pace_study_row_free(). Errors: PACE_E_IO,
 * PACE_E_MEMORY, PACE_E_MISSING. */
pace_status pace_study_run(pace_study_row *row, const char *const *words) PACE_MUST_CHECK;
void pace_study_row_free(pace_study_row *row);
