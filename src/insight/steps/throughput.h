/* How much of a device's peak the typical step of a rank reaches. */
#pragma once

#include "insight/steps/typical_step.h"

/* Of the typical step, from operators of known shapes. Recomputed work counts: without recomputation the share of the
 * peak is the model's utilisation too. What is not known is 0. */
typedef struct {
    double steps_per_s;
    double flop_per_step, flop_per_s;
    double modelled_share;  /* of the device time of the step: operators whose flop are known */
    double peak_flop_per_s; /* of the device, for elements of the size that most of the flop work on */
    int element_bytes;
    double utilisation; /* the share of that peak that is reached */
} pace_throughput;

pace_status pace_throughput_of(pace_throughput *out, const pace_rank *rank,
                               const pace_typical_step *typical) PACE_MUST_CHECK;
