/* Measured curves as the answer to what a step's ranks exchange: pace_exchange_time() asks them first. */
#pragma once

#include "exchange/calibration.h"

#include <stdatomic.h>

typedef struct {
    pace_exchange_measured is;             /* first: what pace_exchange.measured points to */
    const pace_exchange_fit *fit, *chosen; /* all curves; those of what the library chose */
    const char *system;                    /* of the fit; all borrowed */
    pace_nccl_stack stack;                 /* what starts exchanges beside measured ones */
    atomic_size_t told, untold;
    char why[200]; /* of the first that the curves tell nothing of */
} pace_own_curves;

/** Makes the curves of one system of a fit ready; `chosen` is the part of it that names no way
 * (pace_exchange_fit_own()): without any of the system, what was measured with a way forced stands for it. `out` stays
 * where it is as long as an exchange asks it; threads may share it. */
void pace_own_curves_open(pace_own_curves *out, const pace_exchange_fit *fit, const pace_exchange_fit *chosen,
                          const char *system, pace_nccl_stack stack);

/** Those that an exchange asks; NULL = none. */
static inline const pace_own_curves *pace_own_curves_of(const pace_exchange *exchange) {
    return (const pace_own_curves *)exchange->measured;
}
