/* What the ranks of a stage hold when they are fullest: weights, gradients, states, activations. */
#include "plan/step_plan.h"

#include <math.h>

/* --- activations -------------------------------------------------------------------------------------------------- */

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

/* As it was told, as a compiler has it that compiles the whole step, or as the framework's own. */
static pace_loss_bytes loss_of(const pace_step_plan *plan) {
    const pace_framework *framework = plan->framework;
    bool compiles = plan->config.execution == PACE_COMPILED && framework->compiled_loss_bytes > 0;
    if (plan->config.cross_entropy) return framework->losses[plan->config.cross_entropy];
    return compiles ? (pace_loss_bytes){0, framework->compiled_loss_bytes} : framework->loss;
}

/* Layers that do not run again keep all. */
static double own_kept_bytes(const pace_step_plan *plan, const pace_slot_part *part) {
    double again = part->part.place == PACE_PART_LAYER ? pace_step_again_share(plan) : 1;
    return again * part->kept_bytes + (1 - again) * part->whole_bytes;
}

/* What is counted has the scores, and a softmax in single precision beside them. */
static double part_kept_bytes(const pace_step_plan *plan, const pace_slot_part *part) {
    bool whole = plan->config.cross_entropy != PACE_CROSS_ENTROPY_LINEAR;
    double counted = 4 + (whole ? 0 : pace_config_gathered_bytes(&plan->config));
    return own_kept_bytes(plan, part) + (loss_of(plan).kept - counted) * part->scores;
}

/* Of a mean layer. */
static double layer_kept_bytes(const pace_step_plan *plan) {
    double kept = 0;
    for (unsigned i = 0; i < plan->slots->count; i++)
        if (plan->slots->parts[i].part.place == PACE_PART_LAYER)
            kept +=
                own_kept_bytes(plan, &plan->slots->parts[i]) * plan->slots->parts[i].part.turns / plan->slots->layers;
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
    double of_loss = loss_of(plan).formed, widest = 0;
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

/* Micro-batches that wait for the gradients of the last product's weights: its input, and the gradients of its scores
 * in half precision. The last one waits for nothing. */
static double deferred_bytes(const pace_step_plan *plan) {
    const double half = 2;
    double scores = 0, waiting = fmin(plan->config.defer_logits, plan->micro_batches - 1);
    for (unsigned i = 0; i < plan->slots->count; i++) scores += plan->slots->parts[i].scores;
    return waiting * (half * scores + plan->slots->boundary_bytes);
}

/* What a stage keeps, and what one of its layers forms anew in backward. The tail goes backward at once, unless all
 * forward passes come first or gradients of weights are put off. */
static double stage_activations(const pace_step_plan *plan, double stage) {
    double flight = in_flight(plan, stage), kept = 0;
    bool waits = plan->config.schedule == PACE_SCHEDULE_GPIPE || plan->config.schedule == PACE_SCHEDULE_ZERO_BUBBLE;
    bool at_once = pace_stage_has_tail(plan, stage) && !waits;
    for (double chunk = 0; chunk < plan->config.vpp; chunk++) kept += pace_step_kept_bytes(plan, stage, chunk);
    if (at_once) kept -= tail_bytes(plan, stage);
    double tail = pace_stage_has_tail(plan, stage) ? deferred_bytes(plan) : 0;
    if (at_once) tail += tail_bytes(plan, stage);
    return kept * flight + tail + pace_step_again_bytes(plan, stage);
}

static double tables(const pace_step_slots *slots, double ep) {
    double sum = 0;
    for (unsigned i = 0; i < slots->count; i++) sum += slots->parts[i].part.table_parameters / ep;
    return sum;
}

/* ZeRO 3: a layer that runs, the next one ahead of it, and the gradients of one before they are scattered (Zhao et al.
 * 2023, section 3.4); of compilers that gather by the weight, a part of each. */
static double gathered_bytes(const pace_step_plan *plan) {
    const double ahead = fmin(2, plan->slots->layers);
    pace_share layer = pace_layer_share(plan->slots);
    double bytes = pace_config_gathered_bytes(&plan->config);
    if (pace_config_sharded_over(&plan->config, 3) <= 1) return 0;
    return plan->framework->gathered_part * (ahead * bytes * (layer.dense + layer.expert) +
                                             pace_step_gradient_bytes(plan) * (layer.trained + layer.trained_expert));
}

/* Of a stage that holds the whole model: its parts go backward one behind the other, so that what the loss forms is
 * gone before a layer forms anything anew, and most activations are there before most gradients. */
static void add_moments(pace_stage_holds *holds, const pace_step_plan *plan) {
    bool copies = pace_step_copies_activations(plan);
    double tail = 0, loss = 0, again = 0, layers = plan->slots->layers, on_device = copies ? 1 : layers;
    double of_loss = loss_of(plan).formed;
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

pace_stage_holds pace_step_holds_of(const pace_step_plan *plan, double stage) {
    pace_stage_holds holds = {.held = pace_stage_share(plan, stage, PACE_WHOLE_STAGE),
                              .activation_bytes = stage_activations(plan, stage)};
    double moved = fmax(0, pace_step_layers_of(plan, stage) - plan->config.vpp); /* of a chunk the last layer stays */
    if (pace_step_copies_activations(plan)) holds.moved_bytes = moved * in_flight(plan, stage) * layer_kept_bytes(plan);
    if (has_moments(plan)) add_moments(&holds, plan);
    return holds;
}

/* --- gradients and states ----------------------------------------------------------------------------------------- */

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
    return fills && config->zero_stage < 2 && pace_config_shares_gradients(config) ? pace_step_gradient_bytes(plan) : 0;
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

/* --- a rank ------------------------------------------------------------------------------------------------------- */

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
        double over = pace_config_sharded_over(config, i), expert_over = over > 1 ? copies : 1;
        pace_share of = i < 3 ? pace_share_trained(holds->held) : holds->held;
        parameters[i] = of.dense / over + of.expert / expert_over;
    }
    double formed = pace_step_adds_wider(plan) ? weight : 0,
           beside = half ? weight : 2 * weight; /* by one micro-batch; on hosts */
    double later = half ? plan->framework->formed_state_bytes : 0;
    double state = half ? plan->framework->state_bytes - later : 8; /* without a master copy: the parameters are it */
    if (half && !pace_framework_is_lowered(plan->framework)) state -= pace_config_moments_save(config);
    double wider = half && config->lora > 0 ? fmax(0, plan->framework->adapter_bytes - weight) : 0;
    pace_step_memory memory = {.weight_bytes = weight * (parameters[3] + tables(plan->slots, config->ep)),
                               .activation_bytes = holds->activation_bytes};
    bool on_host = config->offload == PACE_OFFLOAD_OPTIMIZER;
    if (trains) {
        double each = pace_step_gradient_bytes(plan) + formed + wider;
        double beside_all = bucket_bytes(plan) * parameters[2] + gathered_bytes(plan);
        if (on_host && plan->framework->offloads_gradients) each = 0; /* those of a layer fit into its buffers */
        double all = each * parameters[2];
        double updated = on_host ? 0 : update_formed_bytes(plan, half) * parameters[1];
        moment fullest = fullest_moment(plan, holds, all, each / pace_config_sharded_over(config, 2), updated);
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
    pace_stage_holds holds = pace_step_holds_of(plan, stage);
    return memory_of(plan, &holds);
}

double pace_step_stage_host_bytes(const pace_step_plan *plan, double stage) {
    pace_stage_holds holds = {.held = pace_stage_share(plan, stage, PACE_WHOLE_STAGE)};
    if (pace_step_copies_activations(plan)) holds = pace_step_holds_of(plan, stage);
    return memory_of(plan, &holds).host_bytes;
}

/* What libraries and the framework hold, and what of the device's memory is no framework's to give. cuBLAS is
 * deterministic with the larger of its workspaces alone (CUBLAS_WORKSPACE_CONFIG=:4096:8). */
static void add_held(pace_step_plan *plan, const pace_step_place *place) {
    enum { HOPPER = 90 };
    const pace_framework *framework = plan->framework;
    const pace_device *device = place->device;
    bool hopper = device->generation >= HOPPER, large = hopper || plan->config.deterministic > 0;
    double engine_bytes = hopper ? framework->workspace_bytes[hopper] : framework->engine_bytes;
    double engines =
        framework->engine_workspaces + (pace_layer_share(plan->slots).expert > 0 ? framework->grouped_workspaces : 0);
    plan->device_bytes = device->memory_bytes;
    if (device->generation == 0) return; /* another vendor's: nothing is known */
    plan->library_bytes =
        framework->workspaces * framework->workspace_bytes[large] + engines * engine_bytes + framework->buffer_bytes;
    double others = pace_config_ranks(&plan->config) > 1 ? framework->communicator_bytes : 0;
    plan->outside_bytes = framework->context_bytes + others;
    plan->device_bytes = fmax(0, plan->device_bytes - plan->outside_bytes);
}

/* Where activations come and go in the order in which they were formed, the allocator gives each step the same blocks;
 * recomputation and other micro-batches in flight leave holes (Guo et al. 2024, section 2). What is cached goes back to
 * the device where it needs the room. */
static double process_bytes(const pace_step_plan *plan) {
    bool holes = plan->config.recompute != PACE_RECOMPUTE_NONE || plan->config.pp > 1;
    double tensors = plan->memory.all_bytes, cached = holes ? plan->framework->cached_bytes * tensors : 0;
    if (!(plan->outside_bytes > 0)) return 0;
    return plan->outside_bytes + fmax(tensors, fmin(tensors + cached, plan->device_bytes));
}

void pace_step_memory_count(pace_step_plan *plan, const pace_step_place *place) {
    double stages[PACE_UNLIKE_STAGES];
    unsigned count = pace_unlike_stages(stages, plan);
    add_held(plan, place);
    for (unsigned i = 0; i < count; i++) {
        pace_step_memory one = memory_of(plan, &plan->holds[i]);
        if (one.all_bytes > plan->memory.all_bytes) plan->memory = one;
        plan->rank_host_bytes = fmax(plan->rank_host_bytes, one.host_bytes);
        plan->last_rank_bytes = one.all_bytes;
    }
    plan->process_bytes = process_bytes(plan);
}
