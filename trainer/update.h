/* The update of parameters, in the order of their memory: element by element, on all threads. */
#pragma once

#include "gradient_exchange.h"
#include "trained_network.h"

typedef struct {
    pace_train_update rule;
    size_t count;
    float **states[2]; /* of each tensor: its momentum, or Adam's two means; NULL of sparse ones */
    uint64_t steps;
} pace_updater;

/** By the rule of the network's configuration; the rate is the one given, else what is usual of the rule. Free with
 * pace_updater_close(). */
pace_status pace_updater_open(pace_updater *out, const pace_network *network, double rate) PACE_MUST_CHECK;
void pace_updater_close(pace_updater *updater);

/** A step begins: tensors updated from now on are of the next one. */
void pace_updater_next(pace_updater *updater);
void pace_updater_tensor(pace_updater *updater, const pace_network *network, size_t tensor);
