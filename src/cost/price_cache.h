/* Prices that were asked for before: a step of many launches has few operations, and a learned price takes long. */
#pragma once

#include "cost/cost.h"

typedef struct {
    struct {
        const pace_device *device; /* NULL = free */
        pace_op op;
        pace_load load;
        pace_estimate price_s;
    } * slots;
} pace_price_cache;

/** Direct-mapped, so that its size is fixed; an allocation that fails only makes it slow. */
void pace_price_cache_init(pace_price_cache *cache);
void pace_price_cache_free(pace_price_cache *cache);

/** pace_cost_op_under() through the cache, which belongs to one ladder as long as nothing is added to it, and to one
 * thread.
 */
pace_status pace_price_cached(pace_estimate *out_s, pace_price_cache *cache, const pace_cost *cost,
                              const pace_device *device, const pace_op *op, pace_load load) PACE_MUST_CHECK;
