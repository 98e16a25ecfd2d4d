/* Words of a plan: how much is trained, in which time, at what price. */
#pragma once

#include "ask/engine_options.h"
#include "plan/goodput.h"

typedef struct {
    double amount;      /* tokens, or samples of models without sequences; NAN = not said */
    double within_days; /* NAN = not said */
    double critical;    /* tokens, or samples, of a step; NAN = not said */
    double budget;      /* of money; NAN = not said */
} pace_plan_words;

/** Reads the options' tokens ("15T", "300G", "1e12"), within ("30d", "12h"), critical batch ("4M") and budget ("2M");
 * each may be NULL. PACE_E_USAGE for words without a meaning, for a time or a budget without tokens, and for a budget
 * without prices. */
pace_status pace_plan_words_read(pace_plan_words *out, const pace_plan_options *options) PACE_MUST_CHECK;

/** The price of an hour on the n-th of `machines`: one for all, or one for each; NAN = none said. PACE_E_USAGE. */
pace_status pace_plan_price(double *out, const pace_words *price, size_t number, size_t machines) PACE_MUST_CHECK;

/** "50000h:60s:10m": hours between failures of a device, a checkpoint's time, a restart's (none: 0). PACE_E_USAGE. */
pace_status pace_plan_failures(pace_failures *out, const char *text) PACE_MUST_CHECK;

/** A time in its largest unit that is counted at least twice: "16.3 days", "12.1 minutes". */
void pace_say_span(char out[32], double seconds);
