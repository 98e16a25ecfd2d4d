/* What a configuration fixes about a step's time: exchanges of gradients and parameters, the update, the input. */
#include "plan/step_plan.h"

#include "cost/formula.h"
#include "model/emit.h"
#include "plan/step_offload.h"

#include <math.h>
#include <string.h>

/* --- exchanges ---------------------------------------------------------------------------------------------------- */

/* Exchanges of one step's gradients, alone. */
typedef struct {
    double all_s, last_s, full_s; /* the last bucket, which nothing hides; of the others one, in the mean */
    double starts_s;              /* of all_s: what buckets take whatever their size */
    double reduced_s;             /* of all_s what sums gradients */
    double gathered_s;            /* lowered frameworks, ZeRO 1 and 2: of updated parameters, not in all_s */
    bool across;
} gradient_exchange;

/* The ranks that hold replicas of a parameter; of hybrid sharding those of one copy, and the copies. */
typedef struct {
    double ranks, stride, copies, copies_stride;
} gradient_group;

static gradient_group group_of(const pace_config *config, bool expert) {
    pace_group_kind kind = pace_config_shard_group(config, expert);
    return (gradient_group){pace_config_group_size(config, kind), (double)pace_config_stride(config, kind),
                            pace_config_copies(config), (double)pace_config_stride(config, PACE_GROUP_REPLICA)};
}

/* What gradients of so many bytes take: reduced, or reduced and scattered, and then summed over the copies. */
static pace_status sum_gradients(double *out_s, bool *across, const pace_step_plan *plan, const pace_step_place *place,
                                 double bytes, const gradient_group *group) {
    bool whole = plan->config.zero_stage == 0 || (plan->framework->sums_whole > 0 && plan->config.zero_stage < 3);
    pace_collective collective = whole ? PACE_ALLREDUCE : PACE_REDUCESCATTER;
    bool far;
    double again_s;
    *out_s = 0;
    if (group->ranks > 1)
        PACE_TRY(pace_group_exchange_s(out_s, across, place->exchange, collective, bytes, group->ranks, group->stride));
    if (group->copies < 2) return PACE_OK;
    PACE_TRY(pace_group_exchange_s(&again_s, &far, place->exchange, PACE_ALLREDUCE, bytes / group->ranks, group->copies,
                                   group->copies_stride));
    *out_s += again_s;
    *across |= far;
    return PACE_OK;
}

/* DistributedDataParallel fills buckets, as many as the share of the model that a stage holds; others exchange all at
 * once, and say what hides. */
static pace_status exchange_buckets(gradient_exchange *out, const pace_step_plan *plan, const pace_step_place *place,
                                    const pace_slot_buckets *buckets, double bytes, const gradient_group *group) {
    bool filled = pace_framework_is_lowered(plan->framework) && plan->config.zero_stage < 3;
    double last_bytes = filled && buckets->bytes > 0 ? fmin(bytes, buckets->last_bytes) : bytes;
    double rest = buckets->bytes - buckets->last_bytes, part = rest > 0 ? (bytes - last_bytes) / rest : 0, each_s,
           count = 0;
    PACE_TRY(sum_gradients(&out->last_s, &out->across, plan, place, last_bytes, group));
    out->all_s = out->full_s = out->last_s;
    for (unsigned i = 0; last_bytes < bytes && i < buckets->size_count; i++) {
        PACE_TRY(sum_gradients(&each_s, &out->across, plan, place, buckets->sizes[i].bytes, group));
        out->all_s += part * buckets->sizes[i].count * each_s;
        count += part * buckets->sizes[i].count;
    }
    if (count > 0) out->full_s = (out->all_s - out->last_s) / count;
    return PACE_OK;
}

/* A full bucket and a sixteenth of one are on a line: what is left of it at no bytes. */
static pace_status find_starts(gradient_exchange *out, const pace_step_plan *plan, const pace_step_place *place,
                               const pace_slot_buckets *buckets, const gradient_group *group) {
    const double parts = 16, bytes = plan->config.bucket_bytes;
    double full_s, part_s, count = 1;
    if (plan->config.zero_stage >= 3 || !pace_framework_is_lowered(plan->framework)) return PACE_OK;
    PACE_TRY(sum_gradients(&full_s, &out->across, plan, place, bytes, group));
    PACE_TRY(sum_gradients(&part_s, &out->across, plan, place, bytes / parts, group));
    for (unsigned i = 0; i < buckets->size_count; i++) count += buckets->sizes[i].count;
    out->starts_s = fmin(out->all_s, count * fmax(0, (parts * part_s - full_s) / (parts - 1)));
    return PACE_OK;
}

/* Each gradient is read, and written to its bucket. */
static double fill_s(const pace_step_plan *plan, double parameters, const pace_step_place *place) {
    double rate = pace_device_sustained_bytes_per_s(place->device), zero = plan->config.zero_stage;
    if (!(plan->framework->sums_whole > 0) || !(rate > 0) || zero < 1 || zero > 2) return 0;
    return 2 * parameters * pace_step_gradient_bytes(plan) / rate;
}

/* ZeRO 1 and 2: gradients are reduced and scattered, parameters gathered; else gradients are all-reduced. */
static pace_status exchange_gradients(gradient_exchange *out, const pace_step_plan *plan,
                                      const pace_slot_buckets *buckets, double parameters, const gradient_group *group,
                                      const pace_step_place *place) {
    const pace_config *config = &plan->config;
    double gathered_s = 0;
    *out = (gradient_exchange){0};
    if (group->ranks * group->copies < 2 || !(parameters > 0)) return PACE_OK;
    PACE_TRY(exchange_buckets(out, plan, place, buckets, parameters * pace_step_gradient_bytes(plan), group));
    PACE_TRY(find_starts(out, plan, place, buckets, group));
    out->all_s += fill_s(plan, parameters, place);
    out->reduced_s = out->all_s;
    if (group->ranks > 1 && (config->zero_stage == 1 || config->zero_stage == 2))
        PACE_TRY(pace_group_exchange_s(&gathered_s, &out->across, place->exchange, PACE_ALLGATHER,
                                       parameters * pace_config_gathered_bytes(config), group->ranks, group->stride));
    if (pace_framework_is_lowered(plan->framework)) out->gathered_s = gathered_s;
    else out->all_s += gathered_s;
    return PACE_OK;
}

static pace_status exchange_all_gradients(pace_step_plan *plan, const pace_step_place *place) {
    gradient_group replicas = group_of(&plan->config, false), of_experts = group_of(&plan->config, true);
    pace_share held = pace_share_trained(plan->most);
    gradient_exchange dense, expert;
    if (pace_framework_is_lowered(plan->framework) && plan->config.ep <= 1)
        held.dense += held.expert, held.expert = 0; /* all fill the same buckets */
    PACE_TRY(exchange_gradients(&dense, plan, &plan->slots->buckets, held.dense, &replicas, place));
    PACE_TRY(exchange_gradients(&expert, plan, &plan->slots->expert_buckets, held.expert, &of_experts, place));
    plan->gradient_s = dense.all_s;
    plan->reduced_s = dense.reduced_s + expert.reduced_s;
    plan->gathered_s = dense.gathered_s + expert.gathered_s;
    plan->gradient_starts_s = dense.starts_s + expert.starts_s;
    plan->gradient_across = dense.across;
    plan->expert_gradient_s = expert.all_s;
    plan->expert_across = expert.across;
    plan->last_bucket_s = pace_framework_is_lowered(plan->framework) && plan->config.zero_stage < 3 ? dense.last_s : 0;
    plan->full_bucket_s = dense.full_s;
    return PACE_OK;
}

/* What ranks that divide parameters among them gather of these, or scatter. */
static pace_status exchange_block(double *seconds, pace_step_plan *plan, pace_collective collective, double bytes,
                                  pace_share what, const pace_step_place *place) {
    bool across;
    gradient_group group = group_of(&plan->config, false), of_experts = group_of(&plan->config, true);
    double expert_s = *seconds = 0;
    if (group.ranks < 2) return PACE_OK;
    PACE_TRY(pace_group_exchange_s(seconds, &across, place->exchange, collective, bytes * what.dense, group.ranks,
                                   group.stride));
    plan->gradient_across = across;
    if (what.expert > 0 && of_experts.ranks > 1)
        PACE_TRY(pace_group_exchange_s(&expert_s, &across, place->exchange, collective, bytes * what.expert,
                                       of_experts.ranks, of_experts.stride));
    *seconds += expert_s;
    return PACE_OK;
}

static pace_status gather(double *seconds, pace_step_plan *plan, pace_share what, const pace_step_place *place) {
    return exchange_block(seconds, plan, PACE_ALLGATHER, pace_config_gathered_bytes(&plan->config), what, place);
}

/* Of a gradient that ZeRO 3 scatters. */
static double scattered_element_bytes(const pace_step_plan *plan) {
    double own = pace_framework_is_lowered(plan->framework) ? pace_config_parameter_bytes(&plan->config) : 0;
    return fmax(own, plan->framework->gradient_bytes);
}

/* Hybrid sharding: gradients of a block that were scattered, summed over the copies. */
static pace_status replicate(double *seconds, pace_step_plan *plan, pace_share what, const pace_step_place *place) {
    gradient_group group = group_of(&plan->config, false), of_experts = group_of(&plan->config, true);
    double parts = what.trained / group.ranks + what.trained_expert / of_experts.ranks;
    double bytes = parts * pace_step_gradient_bytes(plan);
    bool across;
    *seconds = 0;
    if (!pace_config_trains(&plan->config) || group.copies < 2) return PACE_OK;
    PACE_TRY(pace_group_exchange_s(seconds, &across, place->exchange, PACE_ALLREDUCE, bytes, group.copies,
                                   group.copies_stride));
    plan->gradient_across |= across;
    return PACE_OK;
}

/* Of so many elements from one buffer to another. */
static pace_status flat_copy(double *seconds, const pace_step_plan *plan, double elements, double bytes,
                             const pace_step_place *place) {
    const pace_lowering to = {.config = &plan->config};
    pace_op op = pace_emit_copy(&to, "copy", elements, (int)bytes);
    pace_estimate price_s;
    *seconds = 0;
    if (!pace_framework_is_lowered(plan->framework) || plan->config.zero_stage < 2 || !(elements > 0)) return PACE_OK;
    PACE_TRY(pace_price_cached(&price_s, place->prices, place->cost, place->device, &op, PACE_SUSTAINED));
    *seconds = price_s.median;
    return PACE_OK;
}

static pace_status shard_block(pace_step_shards *out, pace_step_plan *plan, pace_share what,
                               const pace_step_place *place) {
    PACE_TRY(gather(&out->gather_s, plan, what, place));
    PACE_TRY(exchange_block(&out->scatter_s, plan, PACE_REDUCESCATTER, scattered_element_bytes(plan),
                            pace_share_trained(what), place));
    PACE_TRY(
        flat_copy(&out->unpack_s, plan, what.dense + what.expert, pace_config_gathered_bytes(&plan->config), place));
    PACE_TRY(flat_copy(&out->pack_s, plan, what.trained + what.trained_expert,
                       pace_config_parameter_bytes(&plan->config), place));
    return replicate(&out->replicate_s, plan, what, place);
}

/* ZeRO 3 before each pass; ZeRO 1 and 2 of lowered frameworks what was updated. */
static bool gathers_blocks(const pace_step_plan *plan) {
    if (plan->config.zero_stage == 0 || plan->config.zero_stage >= 3) return plan->config.zero_stage >= 3;
    return pace_framework_is_lowered(plan->framework) && pace_config_trains(&plan->config);
}

/* Behind the last layer the last stage has its copy of a tied table. */
static pace_status shard_parts(pace_step_plan *plan, const pace_step_place *place) {
    for (unsigned i = 0; gathers_blocks(plan) && i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        pace_share what = pace_part_share(part);
        bool last = part->part.place == PACE_PART_TAIL && part->part.behind >= plan->slots->layers;
        if (last) pace_share_add(&what, pace_tied_share(plan), 1);
        if (plan->config.zero_stage < 3) what = pace_share_trained(what);
        PACE_TRY(shard_block(&plan->shards[i], plan, what, place));
        if (plan->config.zero_stage == 2)
            plan->unpacked_s += part->part.turns * plan->shards[i].unpack_s / plan->config.pp;
    }
    return PACE_OK;
}

/* What comes first in the model: its head, or where it has none its first layer. */
static pace_status gather_first(pace_step_plan *plan, const pace_step_place *place) {
    pace_share head = pace_place_share(plan->slots, PACE_PART_HEAD);
    if (!gathers_blocks(plan) || plan->config.zero_stage >= 3) return PACE_OK;
    return gather(&plan->gather_first_s, plan,
                  pace_share_trained(head.trained > 0 ? head : pace_layer_share(plan->slots)), place);
}

/* A message to the next stage, which all ranks that share a layer would send whole: each sends its part, and they
 * gather it where it arrives (Narayanan et al. 2021, section 4.1). */
static pace_status price_message(pace_step_plan *plan, const pace_step_place *place, double far) {
    const pace_config *config = &plan->config;
    double bytes = plan->slots->boundary_bytes, gather_s;
    bool across, whole = config->tp > 1 && !(config->sequence_parallel > 0);
    bool scatters = whole && plan->framework->scatter_messages > 0;
    PACE_TRY(pace_group_exchange_s(&plan->pass_s, &plan->pass_across, place->exchange, PACE_SENDRECV,
                                   scatters ? bytes / config->tp : bytes, 2, far));
    if (!scatters) return PACE_OK;
    PACE_TRY(pace_group_exchange_s(&gather_s, &across, place->exchange, PACE_ALLGATHER, bytes, config->tp,
                                   (double)pace_config_stride(config, PACE_GROUP_TENSOR)));
    plan->pass_s += gather_s;
    return PACE_OK;
}

static pace_status exchange_all(pace_step_plan *plan, const pace_step_place *place) {
    const pace_config *config = &plan->config;
    PACE_TRY(gather_first(plan, place));
    if (pace_config_trains(config)) PACE_TRY(exchange_all_gradients(plan, place));
    PACE_TRY(shard_parts(plan, place));
    if (config->pp < 2) return PACE_OK;
    double far = (double)pace_config_stride(config, PACE_GROUP_PIPELINE);
    bool tied_across;
    PACE_TRY(price_message(plan, place, far));
    if (plan->slots->tied_parameters > 0 && !pace_schedule_is_v(plan->config.schedule) &&
        pace_config_trains_all(config) && config->optimizer != PACE_NO_UPDATE) /* else nothing waits for it */
        PACE_TRY(pace_group_exchange_s(&plan->tied_s, &tied_across, place->exchange, PACE_ALLREDUCE,
                                       plan->slots->tied_parameters * pace_step_gradient_bytes(plan), 2,
                                       far * (config->pp - 1)));
    return PACE_OK;
}

/* --- update ------------------------------------------------------------------------------------------------------- */

double pace_step_update_host_s(const pace_step_plan *plan, double part) {
    const pace_slot_update *update = &plan->slots->update;
    double calls = plan->config.update == PACE_UPDATE_LOOP ? part : 1; /* for each tensor, or for a list of all */
    double visits_s = update->visits_s - (1 - part) * update->tensors * update->visit_each_s;
    return calls * plan->slots->rest_host_s[PACE_REST_UPDATE] + fmax(0, visits_s);
}

/* Of the parameters that a rank holds, `part` of the model's. */
static void add_rest(pace_step_plan *plan, double part) {
    const pace_step_slots *slots = plan->slots;
    bool shared = pace_config_shares_gradients(&plan->config), exchanges = shared && plan->config.zero_stage < 3;
    double times[PACE_MODEL_RESTS] = {[PACE_REST_ACCUMULATE] =
                                          plan->config.zero_stage < 3 ? plan->micro_batches - 1 : 0,
                                      [PACE_REST_EXCHANGE] = exchanges ? 1 : 0};
    if (exchanges) plan->gradient_cover_s = part * slots->buckets.before_s;
    if (exchanges) plan->gradient_host_s = part * slots->before_host_s;
    plan->update_host_s += pace_step_update_host_s(plan, part);
    plan->rest_host_s += plan->update_host_s;
    if (exchanges && plan->config.zero_stage > 0)
        plan->rest_host_s += (plan->layers_most + 2) * pace_gather_host_s(plan);
    if (times[PACE_REST_ACCUMULATE] > 0) {
        plan->accumulate_s = part * slots->rest_s[PACE_REST_ACCUMULATE];
        plan->accumulate_host_s = part * slots->rest_host_s[PACE_REST_ACCUMULATE];
    }
    for (int i = 0; i < PACE_MODEL_RESTS; i++) {
        plan->rest_s += part * times[i] * slots->rest_s[i];
        plan->rest_host_s += part * times[i] * slots->rest_host_s[i];
    }
}

/* What a framework that is not lowered issues for each tensor, of `part` of them. */
static void add_tensors(pace_step_plan *plan, double part) {
    const pace_step_slots *slots = plan->slots;
    double tensors = 0, each_s = plan->framework->update_launches * plan->framework->launch_s;
    for (unsigned i = 0; i < slots->count; i++) tensors += slots->parts[i].part.turns * slots->parts[i].part.tensors;
    plan->update_host_s += part * tensors * each_s;
    plan->rest_host_s += part * tensors * each_s;
}

static void add_input(pace_step_plan *plan, const pace_step_place *place) {
    if (place->host) plan->queue = place->host->launch.queue;
    if (place->host && plan->config.execution == PACE_CUDA_GRAPH) plan->replay_s = place->host->launch.lag_ns / 1e9;
    plan->input_s = plan->slots->rest_s[PACE_REST_INPUT];
    plan->rest_s = plan->micro_batches * plan->input_s;
    plan->input_host_s = plan->slots->rest_host_s[PACE_REST_INPUT];
    plan->rest_host_s = plan->micro_batches * plan->input_host_s;
}

/* Of what a stage holds, `held` of all parameters, ranks update a part each: all of them have its kernels. Those over
 * lists of tensors are as many as for the whole model. */
static void update_part(pace_step_plan *plan, double held, double updated) {
    const pace_step_slots *slots = plan->slots;
    double kernels = plan->config.update == PACE_UPDATE_LOOP ? held : 1;
    plan->update_launches = kernels * slots->update.launches;
    plan->update_least_s = kernels * slots->update.least_s;
    plan->update_s = plan->update_least_s + (slots->rest_s[PACE_REST_UPDATE] - slots->update.least_s) * updated;
}

/* Read and written a parameter. */
static double update_bytes(const pace_step_plan *plan) {
    return plan->framework->update_bytes - 2 * pace_config_moments_save(&plan->config);
}

static pace_status add_update(pace_step_plan *plan, const pace_step_place *place) {
    const pace_config *config = &plan->config;
    pace_share held = pace_share_trained(plan->most);
    double over = pace_config_sharded_over(config, 1), rate = pace_device_sustained_bytes_per_s(place->device);
    if (!pace_config_trains(config) || !(rate > 0)) return PACE_OK;
    double expert_over = over > 1 ? group_of(config, true).ranks : 1;
    double updated = held.dense / over + held.expert / expert_over, all = plan->slots->trained_parameters;
    double part = all > 0 ? (held.dense + held.expert) / all : 0;
    bool on_host = config->offload == PACE_OFFLOAD_OPTIMIZER;
    if (on_host) PACE_TRY(pace_offload_update_s(&plan->update_s, config, updated, place));
    else if (plan->framework->update_bytes > 0) plan->update_s = update_bytes(plan) * updated / rate;
    else if (all > 0) update_part(plan, part, updated / all);
    if (on_host) plan->update_host_s = plan->update_s; /* it waits for both copies */
    if (config->zero_stage < 3 && plan->micro_batches > 1)
        plan->add_s = plan->framework->accumulates *
                      (pace_config_parameter_bytes(config) + 2 * pace_step_gradient_bytes(plan)) / rate *
                      (1 - 1 / plan->micro_batches);
    if (part > 0) (pace_framework_is_lowered(plan->framework) ? add_rest : add_tensors)(plan, part);
    return PACE_OK;
}

static pace_status make_stages(pace_step_plan *plan) {
    double stages[PACE_UNLIKE_STAGES];
    PACE_TRY(pace_step_stages_cut(plan));
    unsigned count = pace_unlike_stages(stages, plan);
    for (unsigned i = 0; i < count; i++) plan->holds[i] = pace_step_holds_of(plan, stages[i]);
    return PACE_OK;
}

static void take_stages(pace_step_plan *plan, const pace_step_plan *alike) {
    plan->cut = alike->cut;
    plan->fullest = alike->fullest;
    plan->layers_most = alike->layers_most;
    plan->layers_first = alike->layers_first;
    plan->layers_last = alike->layers_last;
    memcpy(plan->holds, alike->holds, sizeof plan->holds);
}

pace_status pace_step_plan_outline(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                   const pace_config *config, const pace_step_place *place, double attention,
                                   const pace_step_plan *alike) {
    PACE_TRY(pace_config_check_shares(config));
    *out = (pace_step_plan){.slots = slots, .framework = framework, .config = *config, .attention = attention};
    out->micro_batches = pace_config_micro_batches(config);
    if (alike) take_stages(out, alike);
    else PACE_TRY(make_stages(out));
    pace_step_memory_count(out, place);
    return PACE_OK;
}

pace_status pace_step_plan_finish(pace_step_plan *plan, const pace_step_place *place) {
    plan->most = pace_fullest_share(plan);
    PACE_TRY(exchange_all(plan, place));
    if (pace_step_copies_activations(plan)) PACE_TRY(pace_offload_copies_s(plan->copies_s, plan->slots, place));
    add_input(plan, place);
    return add_update(plan, place);
}

pace_status pace_step_plan_make(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                const pace_config *config, const pace_step_place *place, double attention) {
    pace_step_plan plan;
    PACE_TRY(pace_config_check(config));
    PACE_TRY(pace_step_plan_outline(&plan, slots, framework, config, place, attention, NULL));
    PACE_TRY(pace_step_plan_finish(&plan, place));
    *out = plan;
    return PACE_OK;
}
