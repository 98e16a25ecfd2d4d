/* What a step's time means per device: tokens or samples a second, and the share of its peak that the model uses. */
#pragma once

#include "plan/step_case.h"

typedef struct {
    double per_s;             /* of one device: tokens, or samples of a model without sequences */
    bool of_tokens;           /* so */
    double mfu;               /* model FLOP utilization; NAN = the device has no such peak */
    pace_precision precision; /* of the peak */
} pace_step_rate;

/** The rate that most of the arithmetic goes by: PyTorch's fp32 takes TF32 for convolutions, not for products of
 * matrices. */
pace_precision pace_step_main_precision(const pace_step_case *asked);

/** Of a step of `seconds` on so many devices, idle ones included. MFU counts causal attention in full, within its
 * window, and nothing that is computed again (Chowdhery et al. 2022, appendix B), over the dense peak of the precision
 * that products have. */
pace_step_rate pace_step_rate_of(const pace_step_case *asked, double seconds, double devices);
