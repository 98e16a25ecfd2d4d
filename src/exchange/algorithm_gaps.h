/* How far closed forms of algorithms are from their programs, from catalog/algorithms.yaml. */
#pragma once

#include "exchange/algorithms.h"
#include "machine/catalog.h"

enum { PACE_ALGORITHMS_MOST = 32 };

/* Per row of pace_exchange_algorithms: standard deviation of ln(simulated / closed form) where the form is not
 * exact. */
typedef struct {
    double of[PACE_ALGORITHMS_MOST];
} pace_algorithm_gaps;

/** PACE_E_INPUT for an algorithm that is missing or unknown, or a gap out of range. */
pace_status pace_algorithm_gaps_load(pace_algorithm_gaps *out, pace_catalog *catalog) PACE_MUST_CHECK;
