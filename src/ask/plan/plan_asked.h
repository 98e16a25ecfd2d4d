/* Which configuration trains a model fastest on a machine: the answer to `paceline plan`. */
#pragma once

#include "ask/plan/plan_place.h"

/** Searches and answers. Free `out`, which begins as zeros, after a failure too. Errors: PACE_E_USAGE for words that
 * mean nothing or contradict each other; those of machines and models. */
pace_status pace_plan_ask(pace_plan_asked *out, const char *name, const pace_plan_options *options) PACE_MUST_CHECK;
void pace_plan_asked_free(pace_plan_asked *asked);
