/* What the report of `paceline plan` says in sentences. */
#pragma once

#include "ask/plan/plan_asked.h"
#include "report/plan/plan_choice_says.h"
#include "report/report.h"

/** What leads: the fastest, or why nothing fits, and what belongs to it. `best` NULL = nothing fits. */
void pace_plan_say_answer(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);

/** What was assumed, and how to read the tables. `best` is of whose model and framework the answer is. */
void pace_plan_say_notes(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);
