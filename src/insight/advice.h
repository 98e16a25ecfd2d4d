/* What a step can spend its critical path on, and be advised to have more of. */
#pragma once

/* Advice names, DESIGN §1. `gap` is delay no edge explains. */
typedef enum {
    PACE_ADVICE_COMPUTE,
    PACE_ADVICE_MEMORY,
    PACE_ADVICE_COPY,
    PACE_ADVICE_NETWORK,
    PACE_ADVICE_HOST,
    PACE_ADVICE_INPUT,
    PACE_ADVICE_BALANCE,
    PACE_ADVICE_GAP,
    PACE_ADVICES
} pace_advice;

extern const char *const pace_advice_names[PACE_ADVICES];
