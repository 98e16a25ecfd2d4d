/* The rules by which weights are updated, on one tensor: of the trainer and of parameter servers. */
#pragma once

#include "gradient_exchange.h"

/** How many arrays beside the weights a rule keeps of each tensor: 0 to 2. */
int pace_rule_states(pace_train_rule rule);

/** Weights after this gradient, the `step`-th of the tensor from 1 on. `states` were zero at first. On all threads
 * where OpenMP is. */
void pace_rule_apply(const pace_train_update *rule, float *weights, const float *gradient, float *const states[2],
                     size_t count, uint64_t step);
