/* What a step's time means per device: tokens or samples a second, and the share of its peak that the model uses. */
#pragma once

#include "plan/step_engine.h"

typedef struct {
    double per_s;   /* of one device: tokens, or samples of a model without sequences */
    bool of_tokens; /* so */
    double mfu;     /* model FLOP utilization; NAN = the device has no such peak */
    char text[96];  /* "412 tokens/s per device (MFU 41.2 % of the bf16 peak)" */
} pace_step_rate;

/** Of a step of `seconds` on so many devices, idle ones included. MFU counts causal attention in full and nothing that
 * is computed again (Chowdhery et al. 2022, appendix B), over the dense peak of the precision that products have. */
pace_step_rate pace_step_rate_of(const pace_step_case *asked, double seconds, double devices);
