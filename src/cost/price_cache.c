#include "cost/price_cache.h"

enum { SLOTS = 4096 };

void pace_price_cache_init(pace_price_cache *cache) { cache->slots = pace_alloc(SLOTS, sizeof *cache->slots); }

void pace_price_cache_free(pace_price_cache *cache) {
    pace_free(cache->slots);
    cache->slots = NULL;
}

pace_status pace_price_cached(pace_estimate *out_s, pace_price_cache *cache, const pace_cost *cost,
                              const pace_device *device, const pace_op *op, pace_load load) {
    if (!cache || !cache->slots) return pace_cost_op_under(out_s, cost, device, op, load);
    size_t at = ((pace_op_hash(op) ^ (uintptr_t)device >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 52;
    if (cache->slots[at].device != device || cache->slots[at].load != load ||
        !pace_op_equal(&cache->slots[at].op, op)) {
        pace_estimate price_s;
        PACE_TRY(pace_cost_op_under(&price_s, cost, device, op, load));
        cache->slots[at].device = device;
        cache->slots[at].op = *op;
        cache->slots[at].load = load;
        cache->slots[at].price_s = price_s;
    }
    *out_s = cache->slots[at].price_s;
    return PACE_OK;
}
