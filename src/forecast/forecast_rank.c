#include "forecast/forecast_rank.h"
#include "forecast/forecast.h"

void pace_forecast_rank_free(pace_forecast_rank *rank) {
    pace_graph_free(&rank->graph);
    pace_host_costs_free(&rank->costs);
    pace_free(rank->measured_ns);
}

void pace_forecast_free(pace_forecast *forecast) {
    PACE_VEC_FREE_EACH(&forecast->ranks, pace_forecast_rank_free);
    PACE_VEC_FREE_EACH(&forecast->offloaded, pace_forecast_rank_free);
    PACE_VEC_FREE(&forecast->tables);
    if (forecast->prices) pace_price_cache_free(forecast->prices);
    pace_free(forecast->prices);
    pace_cost_free(forecast->cost);
    *forecast = (pace_forecast){0};
}

pace_status pace_forecast_make_ladder(pace_forecast *forecast) {
    PACE_TRY(pace_cost_create(&forecast->cost, forecast->catalog));
    if (!PACE_MAKE(forecast->prices, 1)) return PACE_E_MEMORY;
    pace_price_cache_init(forecast->prices);
    return PACE_OK;
}
