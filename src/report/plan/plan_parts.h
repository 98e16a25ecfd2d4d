/* The parts of reports about plans and choices. Private to report/. */
#pragma once

#include "ask/plan/plan_asked.h"
#include "ask/plan/plan_place.h"
#include "ask/plan/tune_asked.h"
#include "plan/step_rate.h"
#include "report/report.h"

enum { PACE_PLAN_SAYS = 200 };

/** "tp=8 pp=4 dp=4, micro-batch 2, full recomputation, ZeRO 1": what is not 1 or none. */
void pace_plan_say_config(char out[PACE_PLAN_SAYS], const pace_config *config);
/** What runs again by name, where it is not what the framework has unless told; else "". */
void pace_plan_say_modules(char out[PACE_MODULES_TEXT], const pace_plan_place *p, const pace_config *config);

/** What a plan counts of: "tokens", or "samples" of a model without sequences. */
const char *pace_plan_trained(const pace_plan_place *p);

/** What a choice trains a second on each device, and its share of the peak. */
pace_step_rate pace_plan_rate(const pace_plan_place *p, const pace_plan_choice *one);

/** What leads: the fastest, or why nothing fits, and what belongs to it. `best` NULL = nothing fits. */
void pace_plan_say_answer(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);

/** What was assumed, and how to read the tables. `best` is of whose model and framework the answer is. */
void pace_plan_say_notes(pace_report *report, pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);

/** Which place is done within the days and for the budget that were said, or what would be. */
void pace_plan_say_done(pace_report *report, pace_node *root, const pace_plan_asked *a);
/** Which of several places is the cheapest of those that are done, where money was asked for. */
void pace_plan_say_cheapest(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best);

/** The rows that change the library's choice, a line each; what stays is said in comments. */
void pace_tune_file_write(pace_sink *sink, const pace_tuned *tuned);
