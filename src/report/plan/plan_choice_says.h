/* How one choice of a plan is worded. */
#pragma once

#include "ask/plan/plan_place.h"
#include "plan/step_rate.h"

enum { PACE_PLAN_SAYS = 200 };

/** "tp=8 pp=4 dp=4, micro-batch 2, full recomputation, ZeRO 1": what is not 1 or none. */
void pace_plan_say_config(char out[PACE_PLAN_SAYS], const pace_config *config);

/** What a plan counts of: "tokens", or "samples" of a model without sequences. */
const char *pace_plan_trained(const pace_plan_place *p);

/** What a choice trains a second on each device, and its share of the peak. */
pace_step_rate pace_plan_rate(const pace_plan_place *p, const pace_plan_choice *one);
