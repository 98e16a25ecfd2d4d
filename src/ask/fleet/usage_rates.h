/* What the GPUs of a cluster's records can do, as catalog/devices.yaml has it. */
#pragma once

#include "base/intern.h"
#include "fleet/usage_figures.h"
#include "machine/catalog.h"

/** For each GPU name that is `used`; NAN for others and for what the catalogue does not know. Free with pace_free(). */
pace_status pace_usage_rates_find(pace_usage_rates **out, pace_catalog *catalog, const pace_names *names,
                                  const bool *used) PACE_MUST_CHECK;
