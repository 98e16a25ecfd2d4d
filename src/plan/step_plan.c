/* What a configuration fixes about a step: stages, exchanges of gradients and parameters, memory. Long because memory
 * counts the shares and widths that are exchanged. */
#include "plan/step_plan.h"

#include "cost/formula.h"
#include "model/emit.h"
#include "plan/step_offload.h"

#include <math.h>
#include <string.h>

/* --- exchanges ---------------------------------------------------------------------------------------------------- */

static double sharded_over(const pace_config *config, int zero_stage) {
    double all = config->dp * config->cp / pace_config_copies(config);
    return config->zero_stage >= zero_stage ? all : 1;
}

/* Gradients in bf16 that are added to wider ones. */
static bool adds_wider(const pace_step_plan *plan) {
    return plan->config.precision == PACE_RUN_BF16 && plan->framework->bf16_gradient_bytes > 0;
}

/* Of one gradient: as wide as its parameter, unless the framework keeps those of half precision wider. */
static double gradient_bytes(const pace_step_plan *plan) {
    double own = pace_config_parameter_bytes(&plan->config), kept = plan->framework->gradient_bytes;
    if (adds_wider(plan)) kept = plan->framework->bf16_gradient_bytes;
    return kept > own ? kept : own;
}

/* Of one parameter as replicas give it to each other: a half under autocast. */
static double gathered_element_bytes(const pace_config *config) {
    return pace_config_is_amp(config) ? 2 : pace_config_parameter_bytes(config);
}

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
    return 2 * parameters * gradient_bytes(plan) / rate;
}

/* ZeRO 1 and 2: gradients are reduced and scattered, parameters gathered; else gradients are all-reduced. */
static pace_status exchange_gradients(gradient_exchange *out, const pace_step_plan *plan,
                                      const pace_slot_buckets *buckets, double parameters, const gradient_group *group,
                                      const pace_step_place *place) {
    const pace_config *config = &plan->config;
    double gathered_s = 0;
    *out = (gradient_exchange){0};
    if (group->ranks < 2 || !(parameters > 0)) return PACE_OK;
    PACE_TRY(exchange_buckets(out, plan, place, buckets, parameters * gradient_bytes(plan), group));
    PACE_TRY(find_starts(out, plan, place, buckets, group));
    out->all_s += fill_s(plan, parameters, place);
    out->reduced_s = out->all_s;
    if (config->zero_stage == 1 || config->zero_stage == 2)
        PACE_TRY(pace_group_exchange_s(&gathered_s, &out->across, place->exchange, PACE_ALLGATHER,
                                       parameters * gathered_element_bytes(config), group->ranks, group->stride));
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
    return exchange_block(seconds, plan, PACE_ALLGATHER, gathered_element_bytes(&plan->config), what, place);
}

/* Of a gradient that ZeRO 3 scatters. */
static double scattered_element_bytes(const pace_step_plan *plan) {
    double own = pace_framework_is_lowered(plan->framework) ? pace_config_parameter_bytes(&plan->config) : 0;
    return fmax(own, plan->framework->gradient_bytes);
}

/* Hybrid sharding: gradients of a block that were scattered, summed over the copies. */
static pace_status replicate(double *seconds, pace_step_plan *plan, pace_share what, const pace_step_place *place) {
    gradient_group group = group_of(&plan->config, false);
    double bytes = (what.trained + what.trained_expert) * gradient_bytes(plan) / group.ranks;
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
    PACE_TRY(flat_copy(&out->unpack_s, plan, what.dense + what.expert, gathered_element_bytes(&plan->config), place));
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
        pace_config_trains_all(config))
        PACE_TRY(pace_group_exchange_s(&plan->tied_s, &tied_across, place->exchange, PACE_ALLREDUCE,
                                       plan->slots->tied_parameters * gradient_bytes(plan), 2, far * (config->pp - 1)));
    return PACE_OK;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Micro-batches whose activations a stage holds, in units of its layers: as many as it starts before it ends one
 * (Narayanan et al. 2021, section 2.2; Megatron's interleaved order warms up with two chunks for each stage behind this
 * and all chunks but one. Of the first stage that is Korthikanti et al. 2022, section 4.3). Of a zero-bubble pipeline
 * all stages hold as much as the first (Qi et al. 2023), and all-forward-first all. Of a V all hold 2 pp chunks, or one
 * more where passes come in pairs (DeepSeek-AI's DualPipe, table of its README). */
static double in_flight(const pace_step_plan *plan, double stage) {
    double pp = plan->config.pp, vpp = plan->config.vpp, all = plan->micro_batches;
    double behind = plan->config.schedule == PACE_SCHEDULE_ZERO_BUBBLE ? pp - 1 : pp - 1 - stage;
    if (plan->config.schedule == PACE_SCHEDULE_GPIPE) return all;
    if (pace_schedule_is_v(plan->config.schedule))
        return fmin(all, plan->config.schedule == PACE_SCHEDULE_ZB_V ? pp : pp + 0.5);
    double flight = vpp > 1 ? (2 * behind + (vpp - 1) * pp + 1) / vpp : behind + 1;
    return flight < all ? flight : all;
}

/* Layers of a chunk whose activations stay on the device, over the model's: of those that are copied the last. */
static double chunk_layers(const pace_step_plan *plan, double stage) {
    double part = pace_step_layers_of(plan, stage) / plan->slots->layers / plan->config.vpp;
    return pace_step_copies_activations(plan) ? fmin(part, 1 / plan->slots->layers) : part;
}

/* Of tails, the last chunk of their stage. */
static bool is_on(const pace_step_plan *plan, const pace_slot_part *part, double stage, double chunk) {
    if (part->part.place == PACE_PART_LAYER) return true;
    if (part->part.place == PACE_PART_HEAD) return pace_stage_has_head(stage) && chunk == 0;
    return pace_step_tail_stage(plan, &part->part) == stage && chunk == plan->config.vpp - 1;
}

static bool compiles_loss(const pace_step_plan *plan) {
    return plan->config.execution == PACE_COMPILED && plan->framework->compiled_loss_bytes > 0;
}

/* What is counted has a softmax in single precision beside the scores. */
static double part_kept_bytes(const pace_step_plan *plan, const pace_slot_part *part) {
    const double counted = 4;
    double kept = compiles_loss(plan) ? 0 : plan->framework->loss_kept_bytes;
    return part->kept_bytes + (kept - counted) * part->scores;
}

/* Of a mean layer. */
static double layer_kept_bytes(const pace_step_plan *plan) {
    double kept = 0;
    for (unsigned i = 0; i < plan->slots->count; i++)
        if (plan->slots->parts[i].part.place == PACE_PART_LAYER)
            kept += plan->slots->parts[i].kept_bytes * plan->slots->parts[i].part.turns / plan->slots->layers;
    return kept;
}

double pace_step_kept_bytes(const pace_step_plan *plan, double stage, double chunk) {
    double layers = chunk_layers(plan, stage), kept = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        double times = part->part.place == PACE_PART_LAYER ? part->part.turns * layers : 1;
        if (is_on(plan, part, stage, chunk)) kept += part_kept_bytes(plan, part) * times;
    }
    return kept;
}

double pace_step_again_bytes(const pace_step_plan *plan, double stage) {
    const pace_framework *framework = plan->framework;
    double of_loss = compiles_loss(plan) ? framework->compiled_loss_bytes : framework->loss_formed_bytes, widest = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        bool held = is_on(plan, part, stage, 0) || is_on(plan, part, stage, plan->config.vpp - 1);
        double formed = part->whole_bytes - part->kept_bytes, loss = of_loss * part->scores;
        if (held) widest = fmax(widest, fmax(formed, loss));
    }
    if (!pace_step_copies_activations(plan)) return widest;
    return widest + layer_kept_bytes(plan); /* one comes or goes beside that at work */
}

/* Of the model's end, which a stage's last chunk begins backward with. */
static double tail_bytes(const pace_step_plan *plan, double stage) {
    double sum = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        bool last = part->part.place == PACE_PART_TAIL && part->part.behind >= plan->slots->layers;
        if (last && is_on(plan, part, stage, plan->config.vpp - 1)) sum += part_kept_bytes(plan, part);
    }
    return sum;
}

/* What a stage keeps, and what one of its layers forms anew in backward. The tail goes backward at once, unless all
 * forward passes come first or gradients of weights are put off. */
static double stage_activations(const pace_step_plan *plan, double stage) {
    double flight = in_flight(plan, stage), kept = 0;
    bool waits = plan->config.schedule == PACE_SCHEDULE_GPIPE || plan->config.schedule == PACE_SCHEDULE_ZERO_BUBBLE;
    bool at_once = pace_stage_has_tail(plan, stage) && !waits;
    for (double chunk = 0; chunk < plan->config.vpp; chunk++) kept += pace_step_kept_bytes(plan, stage, chunk);
    if (at_once) kept -= tail_bytes(plan, stage);
    return kept * flight + (at_once ? tail_bytes(plan, stage) : 0) + pace_step_again_bytes(plan, stage);
}

static double tables(const pace_step_slots *slots, double ep) {
    double sum = 0;
    for (unsigned i = 0; i < slots->count; i++) sum += slots->parts[i].part.table_parameters / ep;
    return sum;
}

/* ZeRO 3: a layer that runs, the next one ahead of it, and the gradients of one before they are scattered (Zhao et al.
 * 2023, section 3.4). */
static double gathered_bytes(const pace_step_plan *plan) {
    const double ahead = fmin(2, plan->slots->layers);
    pace_share layer = pace_layer_share(plan->slots);
    double bytes = gathered_element_bytes(&plan->config);
    double over = sharded_over(&plan->config, 3);
    return over > 1 ? ahead * bytes * (layer.dense + layer.expert) +
                          gradient_bytes(plan) * (layer.trained + layer.trained_expert)
                    : 0;
}

/* Of a stage that holds the whole model: its parts go backward one behind the other, so that what the loss forms is
 * gone before a layer forms anything anew, and most activations are there before most gradients. */
static void add_moments(pace_stage_holds *holds, const pace_step_plan *plan) {
    bool copies = pace_step_copies_activations(plan);
    double tail = 0, loss = 0, again = 0, layers = plan->slots->layers, on_device = copies ? 1 : layers;
    double of_loss = compiles_loss(plan) ? plan->framework->compiled_loss_bytes : plan->framework->loss_formed_bytes;
    pace_share layer = pace_layer_share(plan->slots), end = pace_place_share(plan->slots, PACE_PART_TAIL);
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        bool behind = part->part.place == PACE_PART_TAIL;
        double formed = fmax(part->whole_bytes - part->kept_bytes, of_loss * part->scores);
        if (behind) tail += part_kept_bytes(plan, part);
        if (behind) loss = fmax(loss, formed);
        else again = fmax(again, formed);
    }
    double kept = pace_step_kept_bytes(plan, 0, 0), layer_kept = layer_kept_bytes(plan);
    double comes = copies ? layer_kept : 0; /* one comes or goes beside that at work */
    holds->begin_bytes = kept + loss + comes;
    holds->behind_bytes = kept - tail + again + comes;
    holds->last_bytes = kept - tail - (on_device - 1) * layer_kept + again + comes;
    holds->behind_trained = end.trained + end.trained_expert;
    holds->last_trained = holds->behind_trained + (layers - 1) * (layer.trained + layer.trained_expert);
}

/* Layers one by one: a model that repeats nothing counts as one layer, whose first activations outlive most of its
 * gradients. */
static bool has_moments(const pace_step_plan *plan) {
    return plan->config.pp == 1 && plan->config.vpp == 1 && plan->slots->layers > 1 &&
           pace_config_trains(&plan->config);
}

static pace_stage_holds holds_of(const pace_step_plan *plan, double stage) {
    pace_stage_holds holds = {.held = pace_stage_share(plan, stage, PACE_WHOLE_STAGE),
                              .activation_bytes = stage_activations(plan, stage)};
    double moved = fmax(0, pace_step_layers_of(plan, stage) - plan->config.vpp); /* of a chunk the last layer stays */
    if (pace_step_copies_activations(plan)) holds.moved_bytes = moved * in_flight(plan, stage) * layer_kept_bytes(plan);
    if (has_moments(plan)) add_moments(&holds, plan);
    return holds;
}

/* Whether gradients of a step before, or of a micro-batch before, are there when backward begins; frameworks of their
 * own keep buffers for them. */
static bool keeps_gradients(const pace_step_plan *plan) {
    bool again = plan->micro_batches > 1 || plan->config.keep_gradients > 0;
    return again || !pace_framework_is_lowered(plan->framework);
}

/* DistributedDataParallel's buckets, which gradients are no views of unless told (gradient_as_bucket_view); with ZeRO 1
 * only the optimizer is another one. */
static double bucket_bytes(const pace_step_plan *plan) {
    const pace_config *config = &plan->config;
    bool fills = pace_framework_is_lowered(plan->framework) && config->gradients == PACE_GRADIENTS_BUCKETS;
    return fills && config->zero_stage < 2 && pace_config_shares_gradients(config) ? gradient_bytes(plan) : 0;
}

/* Per parameter, when the optimizer runs. PyTorch's Adam by lists of tensors: the roots of all second moments. */
static double update_formed_bytes(const pace_step_plan *plan, bool half) {
    const pace_config *config = &plan->config;
    bool adam = config->optimizer == PACE_ADAM || config->optimizer == PACE_ADAMW;
    bool lists = plan->framework->updates_lists > 0 && config->update == PACE_UPDATE_FOREACH && adam;
    if (lists) return pace_config_parameter_bytes(config);
    return half ? plan->framework->formed_state_bytes : 0;
}

/* Autocast's half copies of the weights of products: it keeps each until backward has used it (torch.autocast's cache).
 * FSDP gathers halves instead, a compiler casts again, and so does recomputation. */
static double weight_copy_bytes(const pace_step_plan *plan) {
    const pace_config *config = &plan->config;
    bool copies = pace_config_is_amp(config) && config->execution != PACE_COMPILED && config->zero_stage < 3;
    return copies && config->recompute == PACE_RECOMPUTE_NONE ? 2 : 0;
}

/* Gradients and activations that are there at once. */
typedef struct {
    double gradient_bytes, activation_bytes;
} moment;

static moment fuller(moment a, moment b) {
    return a.gradient_bytes + a.activation_bytes < b.gradient_bytes + b.activation_bytes ? b : a;
}

/* The fullest moment of backward and of the update behind it. `all`: bytes of all gradients of the rank; of one, so
 * divided, `each`; `formed`: by the update. */
static moment fullest_moment(const pace_step_plan *plan, const pace_stage_holds *holds, double all, double each,
                             double formed) {
    double kept = keeps_gradients(plan) ? all : 0, copy = weight_copy_bytes(plan);
    pace_share layer = pace_layer_share(plan->slots), end = pace_place_share(plan->slots, PACE_PART_TAIL);
    double of_layer = copy * (layer.dense + layer.expert), of_layers = plan->slots->layers * of_layer;
    moment update = {all, formed}, whole = {all, holds->activation_bytes};
    if (!(holds->begin_bytes > 0)) return fuller(whole, update);
    moment begin = {kept, holds->begin_bytes + of_layers + copy * (end.dense + end.expert)};
    moment behind = {fmax(kept, each * holds->behind_trained), holds->behind_bytes + of_layers};
    moment last = {fmax(kept, each * holds->last_trained), holds->last_bytes + of_layer};
    return fuller(fuller(begin, behind), fuller(last, update));
}

static pace_step_memory memory_of(const pace_step_plan *plan, const pace_stage_holds *holds) {
    const pace_config *config = &plan->config;
    double copies = pace_config_group_size(config, pace_config_shard_group(config, true));
    bool trains = pace_config_trains(config), half = pace_config_parameter_bytes(config) == 2;
    double weight = half ? 2 : 4, parameters[4]; /* by the stage of ZeRO that divides them; weights 3, else trained */
    for (int i = 1; i <= 3; i++) {
        double over = sharded_over(config, i), expert_over = over > 1 ? copies : 1;
        pace_share of = i < 3 ? pace_share_trained(holds->held) : holds->held;
        parameters[i] = of.dense / over + of.expert / expert_over;
    }
    double formed = adds_wider(plan) ? weight : 0,
           beside = half ? weight : 2 * weight; /* by one micro-batch; on hosts */
    double later = half ? plan->framework->formed_state_bytes : 0;
    double state = half ? plan->framework->state_bytes - later : 8; /* without a master copy: the parameters are it */
    double wider = half && config->lora > 0 ? fmax(0, plan->framework->adapter_bytes - weight) : 0;
    pace_step_memory memory = {.weight_bytes = weight * (parameters[3] + tables(plan->slots, config->ep)),
                               .activation_bytes = holds->activation_bytes};
    bool on_host = config->offload == PACE_OFFLOAD_OPTIMIZER;
    if (trains) {
        double each = gradient_bytes(plan) + formed + wider;
        double all = each * parameters[2], beside_all = bucket_bytes(plan) * parameters[2] + gathered_bytes(plan);
        double updated = on_host ? 0 : update_formed_bytes(plan, half) * parameters[1];
        moment fullest = fullest_moment(plan, holds, all, each / sharded_over(config, 2), updated);
        memory.weight_bytes += wider * parameters[2];
        memory.gradient_bytes = fullest.gradient_bytes + beside_all;
        memory.activation_bytes = fullest.activation_bytes;
        if (!on_host) memory.optimizer_bytes = (state + 2 * wider) * plan->slots->states * parameters[1];
        memory.fixed_bytes = all + beside_all;
        /* gradients and states; where no master copy is among these, parameters too (Ren et al. 2021, section 4.1) */
        if (on_host) memory.host_bytes = ((state + later) * plan->slots->states + beside) * parameters[1];
    }
    if (pace_step_copies_activations(plan)) memory.host_bytes = holds->moved_bytes;
    memory.library_bytes = plan->library_bytes;
    memory.fixed_bytes += memory.weight_bytes + memory.optimizer_bytes + memory.library_bytes;
    memory.all_bytes = memory.weight_bytes + memory.gradient_bytes + memory.optimizer_bytes + memory.activation_bytes;
    memory.all_bytes += memory.library_bytes;
    return memory;
}

pace_step_memory pace_step_stage_memory(const pace_step_plan *plan, double stage) {
    pace_stage_holds holds = holds_of(plan, stage);
    return memory_of(plan, &holds);
}

double pace_step_stage_host_bytes(const pace_step_plan *plan, double stage) {
    pace_stage_holds holds = {.held = pace_stage_share(plan, stage, PACE_WHOLE_STAGE)};
    if (pace_step_copies_activations(plan)) holds = holds_of(plan, stage);
    return memory_of(plan, &holds).host_bytes;
}

/* What libraries and the framework hold, and what of the device's memory is no framework's to give. */
static void add_held(pace_step_plan *plan, const pace_step_place *place) {
    enum { HOPPER = 90 };
    const pace_framework *framework = plan->framework;
    const pace_device *device = place->device;
    plan->device_bytes = device->memory_bytes;
    if (device->generation == 0) return; /* another vendor's: nothing is known */
    plan->library_bytes =
        framework->workspaces * framework->workspace_bytes[device->generation >= HOPPER] + framework->buffer_bytes;
    double others = pace_config_ranks(&plan->config) > 1 ? framework->communicator_bytes : 0;
    plan->device_bytes = fmax(0, plan->device_bytes - framework->context_bytes - others);
}

static void add_memory(pace_step_plan *plan, const pace_step_place *place) {
    double stages[PACE_UNLIKE_STAGES];
    unsigned count = pace_unlike_stages(stages, plan);
    add_held(plan, place);
    for (unsigned i = 0; i < count; i++) {
        pace_step_memory one = memory_of(plan, &plan->holds[i]);
        if (one.all_bytes > plan->memory.all_bytes) plan->memory = one;
        plan->rank_host_bytes = fmax(plan->rank_host_bytes, one.host_bytes);
        plan->last_rank_bytes = one.all_bytes;
    }
}

/* --- update ------------------------------------------------------------------------------------------------------- */

/* Of the parameters that a rank holds, `part` of the model's. */
static void add_rest(pace_step_plan *plan, double part) {
    const pace_step_slots *slots = plan->slots;
    bool shared = pace_config_shares_gradients(&plan->config), exchanges = shared && plan->config.zero_stage < 3;
    double times[PACE_MODEL_RESTS] = {[PACE_REST_ACCUMULATE] =
                                          plan->config.zero_stage < 3 ? plan->micro_batches - 1 : 0,
                                      [PACE_REST_EXCHANGE] = exchanges ? 1 : 0};
    if (exchanges) plan->gradient_cover_s = part * slots->buckets.before_s;
    if (exchanges) plan->gradient_host_s = part * slots->before_host_s;
    plan->update_host_s += part * slots->rest_host_s[PACE_REST_UPDATE];
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

/* Of a part of the parameters: kernels over lists of tensors are as many as for all. */
static double update_of(const pace_step_slots *slots, double part) {
    return slots->update_least_s + (slots->rest_s[PACE_REST_UPDATE] - slots->update_least_s) * part;
}

static pace_status add_update(pace_step_plan *plan, const pace_step_place *place) {
    const pace_config *config = &plan->config;
    pace_share held = pace_share_trained(plan->most);
    double over = sharded_over(config, 1), rate = pace_device_sustained_bytes_per_s(place->device);
    if (!pace_config_trains(config) || !(rate > 0)) return PACE_OK;
    double expert_over = over > 1 ? group_of(config, true).ranks : 1;
    double updated = held.dense / over + held.expert / expert_over, all = plan->slots->trained_parameters;
    bool on_host = config->offload == PACE_OFFLOAD_OPTIMIZER;
    if (on_host) PACE_TRY(pace_offload_update_s(&plan->update_s, config, updated, place));
    else if (plan->framework->update_bytes > 0) plan->update_s = plan->framework->update_bytes * updated / rate;
    else if (all > 0) plan->update_s = update_of(plan->slots, updated / all);
    if (on_host) plan->update_host_s = plan->update_s; /* it waits for both copies */
    if (config->zero_stage < 3 && plan->micro_batches > 1)
        plan->add_s = plan->framework->accumulates * (pace_config_parameter_bytes(config) + 2 * gradient_bytes(plan)) /
                      rate * (1 - 1 / plan->micro_batches);
    double part = all > 0 ? (held.dense + held.expert) / all : 0;
    if (part > 0) (pace_framework_is_lowered(plan->framework) ? add_rest : add_tensors)(plan, part);
    return PACE_OK;
}

static pace_status make_stages(pace_step_plan *plan) {
    double stages[PACE_UNLIKE_STAGES];
    PACE_TRY(pace_step_stages_cut(plan));
    unsigned count = pace_unlike_stages(stages, plan);
    for (unsigned i = 0; i < count; i++) plan->holds[i] = holds_of(plan, stages[i]);
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
    add_memory(out, place);
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
