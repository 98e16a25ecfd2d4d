/* Where a step runs, as whoever prices it needs to know. */
#pragma once

#include "cost/price_cache.h"
#include "exchange/exchange.h"
#include "plan/step_host.h"

/* On what and with what prices. All are borrowed. */
typedef struct {
    const pace_cost *cost;
    const pace_device *device;
    const pace_exchange *exchange; /* NULL = one device */
    pace_price_cache *prices;      /* may be NULL */
    const pace_step_host *host;    /* NULL = who composes the step knows what launches cost */
    double node_ranks, host_bytes; /* ranks of a node, and the memory of its host; 0 = unknown */
} pace_step_place;

/** What the device needs to begin the next of two kernels that follow at once. */
static inline double pace_between_kernels_s(const pace_step_place *place) {
    return place->host ? place->host->launch.between_ns / 1e9 : 0;
}
