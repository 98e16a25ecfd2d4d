/* Steps that the user annotated with words of his own: "train_step 3", "iteration". */
#pragma once

#include "insight/steps/stage_words.h"

/** Compares names as if every number in them were the same. */
int pace_name_family_order(const char *a, const char *b);

/** Finds the annotations that recur as steps do, and sets `known[name]` to `value` for each name of them. `basis` is
 * the first of these names; 0 = none recur so. Annotations of one family (names equal but for their numbers) are steps
 * if their numbers ascend, or their names are all the same; if they do not overlap; and if most of the trace's
 * operators run inside of them. Of several families that with most time is taken: the outermost. Names of parts ("layer
 * 3") are no steps.
 */
pace_status pace_recurring_steps_find(pace_name *basis, char *known, char value, const pace_step *step,
                                      const pace_stage_words *words) PACE_MUST_CHECK;
