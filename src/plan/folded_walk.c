#include "plan/folded_walk.h"

#include "model/pipeline_stages.h"

#include <math.h>

/* A host that issues single launches waits for each batch, so that rounds may be alike. */
pace_pipeline_fold pace_folded_walk_of(const pace_step_case *asked, unsigned attempt, uint32_t queued) {
    const pace_pipeline pipeline = pace_config_pipeline(&asked->config);
    pace_pipeline_fold whole = {.less = pipeline, .round = 1};
    bool buckets = !asked->approach || pace_approach_has_buckets(asked->approach);
    bool issues = asked->config.execution != PACE_CUDA_GRAPH && !asked->device->is_cpu;
    if (asked->unfolded || asked->config.mode != PACE_TRAINING || !buckets || !issues) return whole;
    return pace_pipeline_fold_of(&pipeline, attempt, queued);
}

static pace_status find_rounds(bool *found, pace_forecast *forecast, const pace_step_case *asked,
                               const pace_pipeline_fold *fold) {
    const pace_pipeline pipeline = pace_config_pipeline(&asked->config);
    forecast->folded = fold->times;
    *found = true;
    for (size_t i = 0; *found && i < forecast->ranks.count; i++) {
        pace_forecast_rank *rank = &forecast->ranks.items[i];
        pace_turn_block block;
        PACE_TRY(pace_pipeline_fold_block(&block, found, &pipeline, fold, (uint32_t)i));
        if (*found)
            rank->round = pace_fold_round_of(&rank->graph, rank->launch.queue, block.first, block.count,
                                             block.steady_first, block.steady_count);
    }
    return PACE_OK;
}

/* Rounds whose launches the queue of a rank's device holds; of the rank with most. */
static uint32_t queued_rounds(const pace_forecast *forecast) {
    uint32_t most = 0;
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_fold_round *round = &forecast->ranks.items[i].round;
        uint32_t rounds = round->count ? (round->queue + round->count - 1) / round->count : 0;
        if (rounds > most) most = rounds;
    }
    return most;
}

static double device_s(const pace_turn_work *turn) {
    double sum = turn->products_s + turn->others_s + turn->data_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) sum += turn->group_s[g];
    return sum;
}

/* Hosts of stages that copy no batch fill their queues where they are faster than their devices. */
bool pace_folded_walk_fills(const pace_step_plan *plan) {
    pace_chunk_turns turns = pace_step_turns(plan, floor(plan->config.pp / 2), 0);
    double host_s = turns.forward.host_s + turns.backward.host_s;
    return plan->config.pp > 2 && host_s < device_s(&turns.forward) + device_s(&turns.backward);
}

/* Some stage's queue, which holds so many rounds, is not filled and emptied within the rounds that are walked. */
pace_status pace_folded_walk_is_short(bool *out, const pace_step_case *asked, const pace_pipeline_fold *fold,
                                      uint32_t queued) {
    const pace_pipeline pipeline = pace_config_pipeline(&asked->config);
    *out = false;
    for (uint32_t stage = 0; !*out && stage < pipeline.stages; stage++) {
        pace_turn_block block;
        bool found;
        PACE_TRY(pace_pipeline_fold_block(&block, &found, &pipeline, fold, stage));
        *out = found && block.steady_count <= 2 * queued * block.count;
    }
    return PACE_OK;
}

/* Launches on stream 0 of the second of some rounds of micro-batches. */
static uint32_t computes_of_round(const pace_graph *graph, const pace_turns *turns, uint32_t round) {
    uint32_t sum = 0;
    for (size_t i = 1; i < turns->count; i++)
        if (turns->items[i].micro_batch / round == 1) sum += graph->turn_ends.items[i] - graph->turn_ends.items[i - 1];
    return sum;
}

/* Rounds that the queue of a stage's device holds, of the stage with most. */
static pace_status count_queued(uint32_t *most, const pace_forecast *forecast, const pace_pipeline_fold *fold) {
    for (uint32_t i = 0; i < forecast->ranks.count; i++) {
        const pace_forecast_rank *rank = &forecast->ranks.items[i];
        pace_turns turns;
        PACE_TRY(pace_pipeline_order(&turns, &fold->less, i));
        uint32_t count = computes_of_round(&rank->graph, &turns, fold->round);
        uint32_t rounds = count ? (rank->launch.queue + count - 1) / count : 0;
        if (rounds > *most) *most = rounds;
        PACE_VEC_FREE(&turns);
    }
    return PACE_OK;
}

pace_status pace_folded_walk_find(bool *steady, pace_forecast *forecast, uint32_t *queued, const pace_step_case *asked,
                                  const pace_pipeline_fold *fold, bool fills) {
    bool too_short = false;
    if (fills && *queued == 0) {
        PACE_TRY(count_queued(queued, forecast, fold));
        PACE_TRY(pace_folded_walk_is_short(&too_short, asked, fold, *queued));
    }
    *steady = !too_short;
    if (too_short) return PACE_OK;
    PACE_TRY(find_rounds(steady, forecast, asked, fold));
    *queued = queued_rounds(forecast);
    return PACE_OK;
}
