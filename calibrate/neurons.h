/* `paceline calibrate neurons`: constants of a host on which networks of neurons are trained (docs/partition.md). */
#pragma once

#include "base/status.h"
#include "calibrate_options.h"

/** Measures, writes the file of hosts that the options name as entry, and answers. Errors: PACE_E_USAGE for options
 * that have no effect, PACE_E_MISSING where this host has no TCP, PACE_E_IO. */
pace_status pace_calibrate_neurons(pace_answer **out, const pace_calibrate_options *options) PACE_MUST_CHECK;
