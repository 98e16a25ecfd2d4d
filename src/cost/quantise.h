/*
 * Products of 8 or 4 bits whose tables time a layer: its input comes in 16 bits and is quantised first. The kind of
 * such an operation has the word "quantised", and "quantised_once" where the scales are known or each group has its
 * own, so that the input is read once and not twice (its largest value first).
 */
#pragma once

#include "cost/figures.h"

/** Whether the operation quantises its input first. */
bool pace_quantises(const pace_op *op);

/** The operation alone, without that. */
pace_op pace_quantised_alone(const pace_op *op);

/** What quantising the input takes, seconds; 0 when nothing is quantised or the bandwidth is not known. */
double pace_quantise_s(const pace_op *op, const pace_cost_quantise *figure, const pace_device *device);
