/*
 * The table of choices of libpaceline_collective, which paceline-tune-collective measures on a machine
 * (docs/collective.md), as rows of tuning: the way of each size, and what it took against the built-in choice where the
 * table says so.
 */
#pragma once

#include "ask/plan/tune_asked.h"

/** Free `out`, which begins as zeros, after a failure too. PACE_E_INPUT names the line. */
pace_status pace_collective_table_read(pace_tuned *out, const char *path) PACE_MUST_CHECK;
