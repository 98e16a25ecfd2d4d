/* Where something ends that holds up to some number. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/** The last number for which holds() is true, between `low`, for which it is, and `high`, for which it is not; where it
 * changes more than once, one of the places. Errors: those of holds(). */
static inline pace_status pace_halve(uint64_t *out, uint64_t low, uint64_t high,
                                     pace_status (*holds)(bool *out, void *context, uint64_t number), void *context) {
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool held;
        PACE_TRY(holds(&held, context, middle));
        *(held ? &low : &high) = middle;
    }
    *out = low;
    return PACE_OK;
}
