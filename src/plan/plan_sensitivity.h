/*
 * What else would be chosen if something took longer than is thought: each factor of the closed form (step_time.h) that
 * stands for a doubt, made larger by one step.
 */
#pragma once

#include "plan/step_time.h"

enum { PACE_PLAN_OTHERWISE = 6 };

/* "products", "exchanges within a node", … as people say them. */
extern const char *const pace_plan_otherwise_names[PACE_PLAN_OTHERWISE];

/** So many times as long each takes. */
double pace_plan_otherwise_factor(void);

/** The closed form's time of a plan under each, over its time as it is. */
void pace_plan_otherwise(double out[PACE_PLAN_OTHERWISE], const pace_step_plan *plan);
