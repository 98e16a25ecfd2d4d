/* Sentences about what is offered: which part is done within days and budget, and which is the cheapest. */
#pragma once

#include "ask/plan/plan_asked.h"
#include "report/report.h"

/** Which place is done within the days and for the budget that were said, or what would be. */
void pace_plan_say_done(pace_report *report, pace_node *root, const pace_plan_asked *a);
/** Which of several places is the cheapest of those that are done, where money was asked for. */
void pace_plan_say_cheapest(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);
