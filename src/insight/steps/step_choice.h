/* Which of a trace's steps are looked at. */
#pragma once

#include "insight/steps/steps.h"

/* Zero-initialise for all. */
typedef struct {
    const char *numbers; /* "3:4" both included, "3:", ":4", "3"; NULL = all */
    size_t skip;         /* so many are left out at the beginning, for warm-up */
} pace_step_choice;

/** PACE_E_USAGE for numbers that are no range. */
pace_status pace_step_choice_check(const pace_step_choice *choice) PACE_MUST_CHECK;

/** The chosen marks: `*count` of them from `*first` on. PACE_E_USAGE when there is none; the message lists the steps of
 * the trace, which `path` names. */
pace_status pace_step_choice_find(size_t *first, size_t *count, const pace_step_choice *choice, const pace_marks *marks,
                                  const pace_names *names, const char *path) PACE_MUST_CHECK;

/** Keeps the chosen marks alone. Their device intervals must be set: they stay as they are. */
pace_status pace_step_choice_apply(pace_marks *marks, const pace_step_choice *choice, const pace_names *names,
                                   const char *path) PACE_MUST_CHECK;
