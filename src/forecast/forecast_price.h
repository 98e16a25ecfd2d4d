/* What every launch of a rank takes under a scenario. Private to the forecast. */
#pragma once

#include "forecast/forecast_data.h"
#include "forecast/variant.h"

/* What launches took that are priced without a measurement: equal ones take the same. */
typedef struct {
    pace_graph_exchange exchange;
    pace_estimate ns;
} pace_exchange_price;

typedef struct {
    pace_estimate *op_ns; /* per operation, known and then guessed; a median below 0 = not yet priced */
    pace_exchange_price exchanges[16];
    size_t exchange_count;
} pace_known_prices;

/* Where a rank's launches are priced, and what they were before. */
typedef struct {
    const pace_forecast *forecast;
    const pace_forecast_rank *rank;
    const pace_variant *variant;
    const pace_scenario *scenario;
    pace_launch_doubts *doubts; /* adds to them; NULL = not wanted */
    pace_known_prices *known;   /* of the variant; NULL = none are kept */
} pace_pricing;

/** The device the scenario runs on; NULL = unknown. */
const pace_device *pace_pricing_device(const pace_pricing *pricing);

/** Bytes/s between that device, which must be known, and its host. */
double pace_pricing_copy_rate(const pace_pricing *pricing);

/** Bytes/s of a device's memory where it adds vectors. */
double pace_adding_rate(const pace_device *device);

/** Whether a launch's time is scaled; by how much in all is multiplied into *factor (may be NULL). */
bool pace_price_scale(double *factor, const pace_scenario *scenario, const pace_graph *graph, uint32_t launch);

/** Fills launch_ns (one per launch of the variant's graph) and adds to the families' sums (`families` may be NULL). */
pace_status pace_price_launches(double *launch_ns, pace_forecast_family *families,
                                const pace_pricing *pricing) PACE_MUST_CHECK;

/** Adds the times of launches to those of their families. */
pace_status pace_price_pair_times(pace_pair_times times[PACE_OP_FAMILIES], const pace_pricing *pricing) PACE_MUST_CHECK;

/** Whether the parts of a launch were measured to be faster than anything is already (pace_cost_least_s()): their
 * operation is not what it seems, and nothing follows for another device. */
bool pace_price_was_beyond(const pace_pricing *pricing, uint32_t launch);
