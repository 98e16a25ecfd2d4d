/* What an hour of each GPU of a cluster's records costs, as the question says, else as catalog/prices.yaml has it; and
 * what each can do, as catalog/devices.yaml has it. */
#pragma once

#include "base/intern.h"
#include "base/words.h"
#include "fleet/usage_figures.h"
#include "machine/catalog.h"

typedef struct {
    double *of;         /* by name; NAN = no price */
    pace_texts sources; /* of the prices that were used, "a100: 1.8 USD …" */
} pace_usage_prices;

/** `price` has "2.5" for all GPUs and "a100=1.8" for those so called; `used` are the names of GPUs that there are.
 * Errors: PACE_E_USAGE for a price that is none, or of a GPU that no record has. Free in either case. */
pace_status pace_usage_prices_find(pace_usage_prices *out, pace_catalog *catalog, const pace_words *price,
                                   const pace_names *names, const bool *used) PACE_MUST_CHECK;
void pace_usage_prices_free(pace_usage_prices *prices);

/** The rates of each GPU name that is `used`; NAN for others and for what the catalogue does not know. Free with
 * pace_free(). */
pace_status pace_usage_rates_find(pace_usage_rates **out, pace_catalog *catalog, const pace_names *names,
                                  const bool *used) PACE_MUST_CHECK;
