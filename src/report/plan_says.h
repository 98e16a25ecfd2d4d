/* What the report of `paceline plan` says in sentences. */
#pragma once

#include "ask/plan_asked.h"
#include "report/report.h"
#include "report/step_rate.h"

enum { PACE_PLAN_SAYS = 200 };

/** "tp=8 pp=4 dp=4, micro-batch 2, full recomputation, ZeRO 1": what is not 1 or none. */
void pace_plan_say_config(char out[PACE_PLAN_SAYS], const pace_config *config);

/** What a choice trains a second on each device, and its share of the peak. */
pace_step_rate pace_plan_rate(const pace_plan_place *p, const pace_plan_choice *one);

/** What leads: the fastest, or why nothing fits, and what belongs to it. `best` NULL = nothing fits. */
void pace_plan_say_answer(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);

/** What was assumed, and how to read the tables. `best` is of whose model and framework the answer is. */
void pace_plan_say_notes(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);
