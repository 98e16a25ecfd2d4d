/* Where a cluster's GPU-hours go, what is idle, who waits, what to change: the answer to records of any source. */
#pragma once

#include "ask/engine_options.h"
#include "ask/fleet/usage_gpus.h"
#include "ask/fleet/usage_models.h"
#include "fleet/usage_advice.h"
#include "source/usage/usage_reader.h"

typedef struct {
    pace_usage_mappings mappings;
    PACE_VEC(pace_usage_reading) readings; /* by file */
    pace_usage usage;
    pace_usage_prices prices;
    pace_usage_rates *rates; /* by name of a GPU */
    pace_usage_rules rules;
    pace_usage_figures figures;
    pace_usage_changes changes;
    pace_usage_models models; /* that types of work name */
} pace_usage_asked;

/** Whether the files are records of clusters: the first that some mapping recognises decides; with options->mapping all
 * are. */
pace_status pace_usage_are_records(bool *out, const char *const *paths, size_t count,
                                   const pace_usage_options *options) PACE_MUST_CHECK;

/** Errors: those of the readers; PACE_E_INPUT for a file that no mapping recognises. Free `out` after a failure too. */
pace_status pace_usage_ask(pace_usage_asked *out, const char *const *paths, size_t count,
                           const pace_usage_options *options) PACE_MUST_CHECK;
void pace_usage_asked_free(pace_usage_asked *asked);
