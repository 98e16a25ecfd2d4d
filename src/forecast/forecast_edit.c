#include "forecast/exchange_links.h"
#include "forecast/forecast_edit.h"
#include "forecast/forecast_price.h"
#include "forecast/what_ifs.h"

const pace_forecast_rank *pace_forecast_ranks(const pace_forecast *forecast, const pace_scenario *scenario) {
    return scenario->device && forecast->offloaded.count ? forecast->offloaded.items : forecast->ranks.items;
}

pace_status pace_forecast_edit(pace_variant *variants, pace_forecast_edits *edits, const pace_forecast *forecast,
                               const pace_scenario *scenario) {
    pace_editing e = {forecast, scenario, pace_forecast_ranks(forecast, scenario), variants, 0, edits};
    *edits = (pace_forecast_edits){0};
    pace_status status = PACE_OK;
    const pace_doubts *doubts = pace_cost_doubts(forecast->cost);
    bool edited =
        pace_what_ifs_edit(scenario, pace_what_ifs, pace_what_if_count) || pace_links_may_move(forecast, scenario);
    while (status == PACE_OK && e.count < forecast->ranks.count) {
        const pace_graph *graph = &e.ranks[e.count].graph;
        status = edited ? pace_variant_init(&variants[e.count], graph, doubts)
                        : pace_variant_borrow(&variants[e.count], graph, doubts);
        e.count += status == PACE_OK;
    }
    if (status == PACE_OK) status = pace_what_ifs_apply(&e, pace_what_ifs, pace_what_if_count);
    if (status == PACE_OK) status = pace_links_move(&e);
    for (size_t i = 0; status != PACE_OK && i < e.count; i++) pace_variant_free(&variants[i]);
    return status;
}

pace_status pace_forecast_pair_times(pace_pair_times times[PACE_OP_FAMILIES], const pace_forecast *forecast,
                                     const pace_cost *cost, const pace_device *device) {
    pace_forecast by_ladder = *forecast; /* borrows */
    pace_scenario scenario;
    pace_scenario_init(&scenario, "moved");
    scenario.device = device;
    by_ladder.cost = (pace_cost *)cost;
    by_ladder.prices = NULL; /* they are of the other ladder */
    by_ladder.calibration = NULL;
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        pace_variant variant;
        PACE_TRY(pace_variant_borrow(&variant, &forecast->ranks.items[i].graph, pace_cost_doubts(cost)));
        pace_pricing pricing = {&by_ladder, &forecast->ranks.items[i], &variant, &scenario, NULL, NULL};
        pace_status status = pace_price_pair_times(times, &pricing);
        pace_variant_free(&variant);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}
