#include "plan/step_turns.h"

#include "plan/gather_lanes.h"

#include <math.h>
#include <string.h>

static void take_times(pace_turn_times *out, const pace_turn_work *w, bool back) {
    double device_s = w->products_s + w->others_s + w->data_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) device_s += w->group_s[g];
    int pass = back ? PACE_TURN_BACKWARD : PACE_TURN_FORWARD;
    out->device_s[pass] = device_s;
    out->host_s[pass] = w->host_s;
    out->idle_s[pass] = w->idle_s;
    out->launches[pass] = w->launches;
    if (!back) return;
    out->device_s[PACE_TURN_WEIGHTS] = w->weights_s;
    out->device_s[PACE_TURN_INPUTS] = device_s - w->weights_s;
    out->host_s[PACE_TURN_WEIGHTS] = w->weights_host_s;
    out->host_s[PACE_TURN_INPUTS] = w->host_s - w->weights_host_s;
    out->launches[PACE_TURN_WEIGHTS] = w->weights_launches;
    out->launches[PACE_TURN_INPUTS] = w->launches - w->weights_launches;
    double turns_s = w->idle_s - fmax(w->host_s, device_s);
    out->idle_s[PACE_TURN_INPUTS] = turns_s + fmax(out->host_s[PACE_TURN_INPUTS], out->device_s[PACE_TURN_INPUTS]);
}

/* A captured step has all its batches before it begins. */
static void take_input(pace_turn_times *out, const pace_step_plan *plan, const pace_pipeline *shape, uint32_t stage) {
    double copies_all = plan->slots->input_copies, host = copies_all > 0 ? 1 / copies_all : 0;
    const double share[PACE_TURN_ENDS] = {1 - plan->slots->targets, plan->slots->targets};
    const double host_share[PACE_TURN_ENDS] = {1 - host, host};
    const uint32_t parts[PACE_TURN_ENDS] = {0, shape->stages * shape->chunks - 1};
    for (int end = 0; end < PACE_TURN_ENDS; end++) {
        bool copies = pace_pipeline_stage(shape, parts[end]) == stage,
             graph = plan->config.execution == PACE_CUDA_GRAPH;
        out->input_device_s[end] = copies && !graph ? share[end] * plan->input_s : 0;
        out->input_host_s[end] = copies && !graph ? host_share[end] * plan->input_host_s : 0;
        double waits_s =
            share[end] * plan->input_s + host_share[end] * plan->input_host_s; /* of a host for its copies */
        if (copies && graph) out->end_device_s += plan->micro_batches * waits_s;
    }
}

/* Of what kernels of gradients take, the part of some parameters and tensors: by parameters what they take longer than
 * the shortest, which each tensor takes. */
static double gradients_part(const pace_step_plan *plan, pace_model_rest rest, double part, double host_part) {
    double least = plan->slots->rest_least[rest];
    return (1 - least) * part + least * host_part;
}

static double chunk_gradients_part(const pace_step_plan *plan, pace_model_rest rest, uint32_t stage, uint32_t chunk) {
    return gradients_part(plan, rest, pace_step_chunk_part(plan, stage, chunk),
                          pace_step_chunk_host_part(plan, stage, chunk));
}

/* Gradients are added as they are formed; what else comes beside the passes stands at the step's end, but for inputs.
 * Of frameworks that are not lowered all stages end like the fullest. */
static void take_rest(pace_turn_times *out, const pace_step_plan *plan, uint32_t stage,
                      const pace_beside_turns *beside) {
    const double m = plan->micro_batches;
    const bool lowered = pace_framework_is_lowered(plan->framework);
    const double part = lowered ? pace_step_stage_part(plan, stage) : 1;
    const double host_part = lowered ? pace_step_stage_host_part(plan, stage) : 1;
    double device_s = plan->rest_s - m * plan->input_s - (m - 1) * plan->accumulate_s;
    double host_s = plan->rest_host_s - m * plan->input_host_s - (m - 1) * plan->accumulate_host_s;
    out->end_device_s = lowered ? gradients_part(plan, PACE_REST_EXCHANGE, part, host_part) * device_s : device_s;
    out->end_host_s = host_part * (host_s - plan->update_host_s);
    double kernels = plan->config.update == PACE_UPDATE_LOOP ? host_part : 1; /* one a tensor, or few for all */
    out->update_launches = kernels * plan->update_launches;
    out->update_device_s = part * (beside->update_s - plan->update_least_s) + kernels * plan->update_least_s;
    bool issues = lowered && plan->config.offload != PACE_OFFLOAD_OPTIMIZER;
    out->update_host_s = issues ? pace_step_update_host_s(plan, pace_step_stage_tensors_part(plan, stage))
                                : host_part * plan->update_host_s;
    out->message_host_s = plan->slots->rest_host_s[PACE_REST_MESSAGE];
}

static void take_chunk(pace_turn_times *out, const pace_step_plan *plan, uint32_t stage, uint32_t chunk) {
    pace_chunk_turns turns = pace_step_turns(plan, stage, chunk);
    double part = chunk_gradients_part(plan, PACE_REST_ACCUMULATE, stage, chunk);
    out->put_off_device = pace_step_chunk_put_off(plan, stage, chunk, plan->slots->rest_least[PACE_REST_ACCUMULATE]);
    out->put_off_host = pace_step_chunk_put_off(plan, stage, chunk, 1);
    out->tensors = pace_step_chunk_tensors(plan, stage, chunk);
    out->graphs = plan->config.graphs >= PACE_GRAPHS_BLOCKS;
    out->one_graph = plan->config.graphs == PACE_GRAPHS_PASSES;
    memcpy(out->leaves_s, turns.forward.leaves_s, sizeof out->leaves_s);
    memcpy(out->ahead_s, turns.backward.ahead_s, sizeof out->ahead_s);
    take_times(out, &turns.forward, false);
    take_times(out, &turns.backward, true);
    out->waits_s = turns.backward.waits_s;
    out->hides = turns.backward.hides;
    out->add_device_s = part * plan->accumulate_s;
    out->add_host_s = pace_step_chunk_host_part(plan, stage, chunk) * plan->accumulate_host_s;
}

pace_status pace_step_turn_times(pace_turn_times **out, const pace_step_plan *plan) {
    const pace_beside_turns beside = pace_step_beside_turns(plan);
    pace_turn_times *times = pace_alloc((size_t)plan->cut.stages * plan->cut.chunks, sizeof *times);
    if (!times) return PACE_E_MEMORY;
    for (uint32_t s = 0; s < plan->cut.stages; s++) {
        pace_turn_times *first = &times[s * plan->cut.chunks];
        for (uint32_t chunk = 0; chunk < plan->cut.chunks; chunk++) take_chunk(&first[chunk], plan, s, chunk);
        take_rest(first, plan, s, &beside);
        take_input(first, plan, &plan->cut, s);
        first->ends_together = plan->tied_s > 0 && (s == 0 || s + 1 == plan->cut.stages);
    }
    *out = times;
    return PACE_OK;
}

/* What is left of a stage's gradients behind its full buckets, which are as long as the model's in the mean. */
static double last_bucket_s(const pace_step_plan *plan, uint32_t stage) {
    double all_s = pace_step_stage_part(plan, stage) * (plan->gradient_s + plan->expert_gradient_s);
    double left_s = plan->full_bucket_s > 0 ? fmod(all_s, plan->full_bucket_s) : 0;
    return left_s > 0 ? left_s : plan->last_bucket_s;
}

/* Gradients of norms and biases come with those of inputs, and last of these a table's, which fills the bucket. */
static double early_s(const pace_step_plan *plan, double exchange_s, uint32_t stage, uint32_t chunk) {
    pace_share most = pace_share_trained(plan->most);
    double formed = 1 - pace_step_chunk_put_off(plan, stage, chunk, 0);
    double bytes =
        formed * pace_step_chunk_part(plan, stage, chunk) * (most.dense + most.expert) * pace_step_gradient_bytes(plan);
    return bytes >= plan->config.bucket_bytes ? formed * exchange_s : 0;
}

/* Below ZeRO 3: gradients go into buckets, which are exchanged as they fill. */
static void take_gradients(pace_turn_times *chunks, const pace_step_plan *plan, const pace_stage_blocks *of,
                           uint32_t stage) {
    for (uint32_t chunk = 0; chunk < plan->cut.chunks; chunk++) {
        double part = pace_step_chunk_part(plan, stage, chunk);
        chunks[chunk].fill_device_s =
            chunk_gradients_part(plan, PACE_REST_EXCHANGE, stage, chunk) * plan->gradient_cover_s;
        chunks[chunk].fill_host_s = pace_step_chunk_host_part(plan, stage, chunk) * plan->gradient_host_s;
        chunks[chunk].exchange_s = part * (plan->gradient_s + plan->expert_gradient_s);
        chunks[chunk].bucket_s = plan->full_bucket_s;
        chunks[chunk].last_bucket_s = last_bucket_s(plan, stage);
        chunks[chunk].early_s = early_s(plan, chunks[chunk].exchange_s, stage, chunk);
        if (chunk < of->count) chunks[chunk].forms = &of->chunks[chunk];
        chunks->end_device_s -= chunks[chunk].fill_device_s;
        chunks->end_host_s -= chunks[chunk].fill_host_s;
    }
}

/* What ZeRO gathers; of 1 and 2 that comes in the first forward pass, and not at the end. */
static void take_gathers(pace_turn_times *chunks, const pace_step_plan *plan, const pace_stage_blocks *of,
                         double stage) {
    if (plan->config.zero_stage < 3)
        chunks->end_host_s -=
            pace_step_stage_host_part(plan, stage) * (plan->layers_most + 2) * pace_gather_host_s(plan);
    for (size_t c = 0; c < of->count; c++) {
        chunks[c].blocks = &of->chunks[c];
        chunks[c].gathers_each = plan->config.zero_stage >= 3;
    }
}

static pace_status walk_turns(double *out_s, const pace_step_plan *plan) {
    const pace_step_factors none = pace_step_factors_none();
    const bool shares = pace_config_shares_gradients(&plan->config);
    const bool gathers = plan->config.zero_stage > 0 && plan->cut.chunks <= PACE_STAGE_CHUNKS;
    pace_stage_blocks *blocks = pace_alloc(plan->cut.stages, sizeof *blocks);
    pace_turn_times *times;
    if (!blocks) return PACE_E_MEMORY;
    pace_status status = pace_step_turn_times(&times, plan);
    for (uint32_t s = 0; status == PACE_OK && s < plan->cut.stages; s++) {
        pace_turn_times *first = &times[s * plan->cut.chunks];
        if (shares) pace_stage_blocks_of(&blocks[s], plan, &none, s, true);
        if (shares && plan->config.zero_stage < 3) take_gradients(first, plan, &blocks[s], s);
        if (shares && gathers) take_gathers(first, plan, &blocks[s], s);
        if (first->ends_together) first->end_device_s += plan->tied_s;
    }
    if (status == PACE_OK)
        status = pace_turns_period(out_s, &plan->cut, times, pace_step_beside_turns(plan).message_s, plan->queue);
    if (status == PACE_OK) pace_free(times);
    pace_free(blocks);
    return status;
}

/* --- one stage alone ---------------------------------------------------------------------------------------------- */

/* Host and device of what comes once a step, or once a micro-batch. */
static pace_clocks issued(double host_s, double device_s) {
    return (pace_clocks){host_s, device_s, fmax(host_s, device_s)};
}

static double alone_s(const pace_step_plan *plan) {
    const pace_step_factors none = pace_step_factors_none();
    double m = plan->micro_batches, adds = m - 1;
    double gathers_s = 0, copies = plan->slots->input_copies;
    pace_stage_blocks of;
    pace_stage_blocks_of(&of, plan, &none, 0, true);
    if (plan->config.zero_stage == 1 || plan->config.zero_stage == 2)
        gathers_s = (plan->layers_most + 2) * pace_gather_host_s(plan);
    double host_s = plan->rest_host_s - m * plan->input_host_s - adds * plan->accumulate_host_s - plan->gradient_host_s;
    double device_s = plan->rest_s - m * plan->input_s - adds * plan->accumulate_s - plan->gradient_cover_s;
    /* an update follows what is copied back from buckets, which may keep the host longer than the device */
    const pace_clocks update = issued(plan->update_host_s, plan->update_s);
    const pace_clocks end = pace_clocks_then(issued(host_s - gathers_s - update.host_s, device_s), update);
    return pace_stage_alone_s(&(pace_stage_alone){.chunk = of.chunks[0],
                                                  .micro_batches = m,
                                                  .zero_stage = (int)plan->config.zero_stage,
                                                  .reads_first = plan->slots->reads_loss == PACE_LOSS_READ_FIRST,
                                                  .reads_last = plan->slots->reads_loss == PACE_LOSS_READ_LAST,
                                                  .copies = copies,
                                                  .copy_s = copies > 0 ? plan->input_s / copies : 0,
                                                  .copy_host_s = copies > 0 ? plan->input_host_s / copies : 0,
                                                  .captured = plan->config.execution == PACE_CUDA_GRAPH,
                                                  .replay_s = plan->replay_s,
                                                  .blocks = plan->config.graphs == PACE_GRAPHS_BLOCKS,
                                                  .graph = issued(plan->slots->rest_host_s[PACE_REST_GRAPH], 0),
                                                  .add = issued(plan->accumulate_host_s, plan->accumulate_s),
                                                  .fill = issued(plan->gradient_host_s, plan->gradient_cover_s),
                                                  .end = end,
                                                  .hull = &plan->slots->hull,
                                                  .gradients_s = plan->gradient_s + plan->expert_gradient_s,
                                                  .starts_s = plan->gradient_starts_s,
                                                  .last_s = plan->last_bucket_s});
}

bool pace_step_goes_through(const pace_step_plan *plan) {
    enum { FEW = 1024 };
    const pace_config *config = &plan->config;
    if (!pace_framework_is_lowered(plan->framework) || config->mode != PACE_TRAINING) return false;
    return config->pp == 1 ? plan->slots->turns > 0 : plan->micro_batches * config->vpp * config->pp <= FEW;
}

pace_status pace_step_turns_s(double *out_s, const pace_step_plan *plan) {
    pace_step_factors none = pace_step_factors_none();
    double period_s;
    *out_s = 0;
    if (!pace_step_goes_through(plan)) return PACE_OK;
    pace_step_time t = pace_step_compose(plan, &none);
    if (plan->config.pp == 1) period_s = alone_s(plan);
    else PACE_TRY(walk_turns(&period_s, plan));
    *out_s = period_s - (t.total_s - t.other_s);
    return PACE_OK;
}
