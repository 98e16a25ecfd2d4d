#include "forecast/forecast.h"
#include "forecast/forecast_edit.h"
#include "forecast/forecast_estimate.h"
#include "forecast/forecast_gradients.h"
#include "forecast/self_check.h"

#include <string.h>

typedef struct {
    size_t count;
    pace_walk_rank *ranks;
    pace_variant *variants;
    pace_step *steps;
    const char **names;
    double **launch_ns;
} walk_room;

static bool make_room(walk_room *room, size_t count) {
    room->count = count;
    return PACE_MAKE(room->ranks, count) && PACE_MAKE(room->variants, count) && PACE_MAKE(room->steps, count) &&
           PACE_MAKE(room->names, count) && PACE_MAKE(room->launch_ns, count);
}

static void free_room(walk_room *room) {
    for (size_t i = 0; room->launch_ns && i < room->count; i++) pace_free(room->launch_ns[i]);
    for (size_t i = 0; room->variants && i < room->count; i++) pace_variant_free(&room->variants[i]);
    PACE_FREE(room->launch_ns, room->variants, room->ranks, room->steps, room->names);
}

static pace_status price_rank(walk_room *room, size_t number, pace_forecast_result *result,
                              const pace_pricing *pricing) {
    const pace_forecast_rank *rank = pricing->rank;
    const pace_graph *graph = &pricing->variant->graph;
    if (!PACE_MAKE(room->launch_ns[number], graph->launches.count + 1)) return PACE_E_MEMORY;
    PACE_TRY(pace_price_launches(room->launch_ns[number], result->families, pricing));
    PACE_TRY(pace_self_check_prices(&result->beyond, room->launch_ns[number], pricing));
    room->names[number] = rank->name;
    room->ranks[number] = (pace_walk_rank){.graph = graph,
                                           .launch_ns = room->launch_ns[number],
                                           .costs = &rank->costs,
                                           .launch_lag_ns = rank->launch.lag_ns,
                                           .between_ns = rank->launch.between_ns,
                                           .graph_lag_ns = rank->launch.graph_lag_ns,
                                           .graph_between_ns = rank->launch.graph_between_ns,
                                           .start_ns = rank->start_ns,
                                           .queue = rank->launch.queue};
    return PACE_OK;
}

static void free_steps(walk_room *room) {
    for (size_t i = 0; i < room->count; i++) pace_step_free(&room->steps[i]);
}

/* Walked as if gradients took no time, and again when it is known from that what they take. */
static pace_status exchange_and_walk(walk_room *room, pace_forecast_result *result, const pace_pricing *pricing,
                                     const pace_walk_options *options) {
    PACE_TRY(pace_walk(room->steps, room->ranks, room->count, options));
    if (!pace_scenario_has_lanes(pricing->scenario) || room->count > 1 || result->exchange.ranks < 2) return PACE_OK;
    pace_status status = pace_gradients_price(room->launch_ns[0], &result->exchange, pricing, &room->steps[0]);
    free_steps(room);
    return status == PACE_OK ? pace_walk(room->steps, room->ranks, room->count, options) : status;
}

static pace_status price_and_walk(walk_room *room, pace_forecast_result *result, const pace_forecast *forecast,
                                  const pace_scenario *scenario) {
    pace_walk_options options = {.one_launch = scenario->one_launch, .repeats = forecast->repeats};
    const pace_forecast_rank *ranks = pace_forecast_ranks(forecast, scenario);
    memcpy(options.scale, scenario->overhead_scale, sizeof options.scale);
    PACE_TRY(pace_forecast_edit(room->variants, &result->edits, forecast, scenario));
    PACE_TRY(pace_self_check_edits(room->variants, room->count));
    for (size_t i = 0; i < room->count; i++) {
        pace_pricing pricing = {forecast, &ranks[i], &room->variants[i], scenario, &result->launch_doubts, NULL};
        PACE_TRY(price_rank(room, i, result, &pricing));
    }
    if (scenario->has_approach) result->exchange.ranks = pace_gradients_ranks(&room->variants[0].graph);
    result->exchange.span = pace_gradients_span(&room->variants[0].graph);
    pace_pricing first = {forecast, &ranks[0], &room->variants[0], scenario, NULL, NULL};
    PACE_TRY(exchange_and_walk(room, result, &first, &options));
    const pace_device *device = scenario->device ? scenario->device : forecast->device;
    pace_status status = pace_self_check_walk(room->steps, room->ranks, room->count, forecast->repeats);
    if (status != PACE_OK) {
        free_steps(room);
        return status;
    }
    return pace_analysis_of_steps(&result->analysis, forecast->catalog, room->steps, room->count, room->names, device);
}

/* Of a folded forecast what a round adds. */
static pace_status find_rounds(pace_forecast_result *result, const pace_forecast *forecast) {
    size_t count = forecast->ranks.count;
    bool steady;
    pace_fold_round *rounds = pace_alloc(count, sizeof *rounds);
    if (!rounds) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) rounds[i] = forecast->ranks.items[i].round;
    pace_status status = pace_fold_find(&steady, &result->analysis, rounds, forecast->repeats, forecast->folded);
    pace_free(rounds);
    if (status == PACE_OK) result->unsteady = !steady;
    return status;
}

pace_status pace_forecast_run(pace_forecast_result *out, const pace_forecast *forecast, const pace_scenario *scenario) {
    walk_room room = {0};
    pace_forecast_result result = {0};
    pace_status status = make_room(&room, forecast->ranks.count) ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = price_and_walk(&room, &result, forecast, scenario);
    free_room(&room);
    if (status != PACE_OK) return status;
    status = pace_self_check_matrix(&result.analysis);
    if (status == PACE_OK && forecast->folded) status = find_rounds(&result, forecast);
    if (status == PACE_OK && !result.unsteady) status = pace_forecast_estimate(&result, forecast, scenario);
    if (status == PACE_OK) {
        pace_forecast_add_exchange(&result, forecast, scenario);
        *out = result;
    } else {
        pace_analysis_free(&result.analysis);
    }
    return status;
}

void pace_forecast_result_free(pace_forecast_result *result) {
    pace_critical_free(&result->path);
    pace_analysis_free(&result->analysis);
}
