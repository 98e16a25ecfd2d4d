#include "plan/stage_passes.h"
#include "base/numbers.h"

#include "model/pipeline_stages.h"

static bool is_lowered(const pace_step_plan *plan) { return pace_framework_is_lowered(plan->framework); }

double pace_passes_s(const pace_passes *w) {
    double sum = w->compute_s + w->host_s + w->data_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) sum += w->group_s[g];
    return sum;
}

static void add_passes(pace_passes *into, const pace_passes *w, double times) {
    into->clocks = pace_clocks_then(into->clocks, pace_clocks_times(w->clocks, times));
    into->compute_s += times * w->compute_s;
    into->host_s += times * w->host_s;
    into->data_s += times * w->data_s;
    into->issue_s += times * w->issue_s;
    into->backward_s += times * w->backward_s;
    into->backward_issue_s += times * w->backward_issue_s;
    into->weights_s += times * w->weights_s;
    into->weights_host_s += times * w->weights_host_s;
    into->launches += times * w->launches;
    into->weights_launches += times * w->weights_launches;
    into->products_s += times * w->products_s;
    into->hosts_s += times * w->hosts_s;
    into->waits_s += times * w->waits_s;
    for (int i = 0; i < PACE_HOSTS; i++) into->leaves_s[i] += times * w->leaves_s[i];
    for (int i = 0; i < PACE_HOSTS; i++) into->ahead_s[i] += times * w->ahead_s[i];
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) into->group_s[g] += times * w->group_s[g];
}

/* Of one slot, ZeRO 3: parameters gathered, gradients scattered; work beside its own that hides them. */
typedef struct {
    double gather_s, reduce_s, beside_s;
    double copy_s;  /* out of and into flat buffers */
    double tensors; /* that are parts of these */
    double move_s;  /* of the host: activations that are copied */
} slot_shards;

/* What the host takes to issue a gather or a scatter of so many tensors; within a pass that is compiled views of them
 * take nothing. */
static double flat_host_s(const pace_step_plan *plan, double tensors) {
    const double *host_s = plan->slots->rest_host_s;
    if (pace_config_issues_passes(&plan->config)) return host_s[PACE_REST_TWICE];
    return host_s[PACE_REST_SHARD] + tensors * host_s[PACE_REST_VIEW];
}

/* What the host takes to issue both. */
static double shard_host_s(const pace_step_plan *plan, const slot_shards *shards) {
    return ((shards->gather_s > 0) + (shards->reduce_s > 0)) * flat_host_s(plan, shards->tensors);
}

/* What the host takes for so many modules that ZeRO 3 gathers by themselves. */
static double modules_s(const pace_step_plan *plan, double modules) {
    return plan->config.zero_stage >= 3 ? plan->framework->gathered_module_s * modules : 0;
}

/* What the host takes for layers of experts besides launches, while the device stands: it waits for the numbers of
 * tokens, and where modules are gathered by themselves for their parameters. */
static double dispatch_s(const pace_step_plan *plan, const pace_slot *slot) {
    const pace_framework *framework = plan->framework;
    return framework->dispatch_s * slot->dispatches + framework->expert_s * slot->experts +
           modules_s(plan, slot->expert_modules);
}

static pace_passes slot_passes(const pace_step_plan *plan, const pace_step_factors *f, const pace_slot *slot,
                               const slot_shards *shards) {
    const pace_framework *framework = plan->framework;
    const double overlap[PACE_SLOT_GROUPS] = {framework->overlap_tensor, framework->overlap_context,
                                              framework->overlap_expert};
    pace_passes w = {.products_s = f->matrix * slot->matrix_s + f->attention * plan->attention * slot->attention_s};
    w.compute_s = w.products_s + f->stream * (slot->stream_s + shards->copy_s) + slot->gap_s;
    double device_s = w.compute_s,
           host_s = f->launch * (framework->launch_s * slot->calls + framework->adapter_launch_s * slot->adapter_calls +
                                 dispatch_s(plan, slot) + modules_s(plan, slot->modules) + slot->host_s +
                                 shards->move_s + shard_host_s(plan, shards));
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) {
        double alone_s = pace_factor_of(f, plan->slots->across[g]) * slot->exchange_s[g];
        w.group_s[g] = alone_s > 0 ? pace_exchange_left_s(alone_s, overlap[g], f->hidden, w.compute_s) : 0;
        device_s += w.group_s[g];
    }
    w.hosts_s = host_s;
    w.weights_host_s = f->launch * slot->weights_host_s;
    if (slot->weights_host_s > 0 && shards->reduce_s > 0) /* they are scattered behind gradients of weights */
        w.weights_host_s += f->launch * flat_host_s(plan, shards->tensors);
    w.launches = slot->launches;
    if (host_s > 0) w.weights_launches = w.launches * w.weights_host_s / host_s;
    /* an eager host runs ahead where kernels are long, and makes good where they are short; but not ahead of what it
     * reads: the device stands while tokens are sent to their experts; nor where it waits for every kernel */
    double sent_s = f->launch * dispatch_s(plan, slot);
    if (is_lowered(plan)) w.issue_s = host_s;
    else if (framework->launches_wait > 0) w.host_s = host_s;
    else if (sent_s > 0) w.host_s = pace_most(sent_s, host_s - device_s);
    else if (host_s > device_s) w.host_s = host_s - device_s;
    bool one_block = is_lowered(plan) && plan->slots->layers < 2; /* no other hides what it gathers and scatters */
    double cover_s = one_block ? 0 : shards->beside_s + (host_s > device_s ? host_s : device_s);
    double exchanged_s = pace_factor_of(f, plan->gradient_across) * (shards->gather_s + shards->reduce_s);
    if (exchanged_s > 0) w.data_s = pace_exchange_left_s(exchanged_s, framework->overlap_gradients, f->hidden, cover_s);
    if (!is_lowered(plan) && sent_s <= 0) w.data_s = pace_most(0, w.data_s - w.host_s); /* while the device stands */
    double alone_s = pace_passes_s(&w);
    w.clocks = (pace_clocks){host_s, alone_s, pace_most(host_s, alone_s) + slot->turns_s};
    return w;
}

/* Of a backward pass, gradients of weights: without more known half of its products. */
static double weights_s(const pace_step_factors *f, const pace_slot *backward) {
    return backward->weights_s > 0 ? backward->weights_s : f->matrix * backward->matrix_s / 2;
}

/* Gradients of frozen parameters are not formed. */
static bool reduces(const pace_step_plan *plan) { return pace_config_trains(&plan->config); }

static pace_step_shards shards_of(const pace_step_plan *plan, const pace_slot_part *part) {
    return plan->shards[part - plan->slots->parts];
}

/* What a pass of a part copies out of and into flat buffers. */
static double copies_s(const pace_step_plan *plan, const pace_step_shards *of, int pass) {
    if (plan->config.zero_stage < 3 || pass == PACE_PART_RECOMPUTE) return 0;
    return of->unpack_s + (pass == PACE_PART_BACKWARD && reduces(plan) ? of->pack_s : 0);
}

/* Of it, what comes with gradients of weights. */
static double packed_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_step_shards *of) {
    return plan->config.zero_stage >= 3 && reduces(plan) ? f->stream * of->pack_s : 0;
}

/* What the host takes to issue the copy of a layer's activations, in the mean: those of a chunk's last stay. */
static double move_host_s(const pace_step_plan *plan, const pace_slot_part *part, int pass) {
    double layers = plan->slots->layers / (plan->config.pp * plan->config.vpp);
    if (!pace_step_copies_activations(plan) || part->part.place != PACE_PART_LAYER || pass == PACE_PART_RECOMPUTE)
        return 0;
    return pace_most(0, 1 - 1 / layers) * plan->slots->rest_host_s[PACE_REST_MOVE];
}

/* All passes of one micro-batch over a part: forward, and backward with what runs again before it. */
static pace_passes part_passes(const pace_step_plan *plan, const pace_step_factors *f, const pace_slot_part *part,
                               pace_part_pass from, pace_part_pass to) {
    pace_passes w = {0};
    const pace_step_shards of = plan->config.zero_stage >= 3 ? shards_of(plan, part) : (pace_step_shards){0};
    double again_s = 0;
    bool trains = plan->config.mode == PACE_TRAINING;
    for (int pass = (int)from; pass <= (int)to; pass++) {
        bool backward = pass == PACE_PART_BACKWARD;
        if (pass != PACE_PART_FORWARD && !trains) continue;
        slot_shards shards = {.gather_s = pass == PACE_PART_RECOMPUTE ? 0 : of.gather_s,
                              .reduce_s = backward && reduces(plan) ? of.scatter_s + of.replicate_s : 0,
                              .beside_s = backward && is_lowered(plan) ? again_s : 0,
                              .copy_s = copies_s(plan, &of, pass),
                              .tensors = part->part.tensors,
                              .move_s = move_host_s(plan, part, pass)};
        pace_slot slot = part->pass[pass];
        if (backward)
            slot.stream_s += plan->add_s * (part->part.trained_parameters + part->part.trained_expert_parameters);
        pace_passes one = slot_passes(plan, f, &slot, &shards);
        double share = pass == PACE_PART_RECOMPUTE ? pace_step_again_share(plan) : 1;
        if (pass == PACE_PART_RECOMPUTE) again_s = pace_passes_s(&one);
        if (pass != PACE_PART_FORWARD) {
            one.backward_s = pace_passes_s(&one);
            one.backward_issue_s = one.issue_s;
        }
        if (backward && pace_config_trains_all(&plan->config))
            one.weights_s = weights_s(f, &part->pass[pass]) + packed_s(plan, f, &of);
        add_passes(&w, &one, share);
    }
    return w;
}

pace_model_passes pace_model_passes_of(const pace_step_plan *plan, const pace_step_factors *f, pace_part_pass from,
                                       pace_part_pass to) {
    pace_model_passes w = {.back = from != PACE_PART_FORWARD,
                           .has = {from == PACE_PART_FORWARD, to == PACE_PART_BACKWARD}};
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        w.part[i] = part_passes(plan, f, part, from, to);
        if (part->part.place == PACE_PART_LAYER)
            add_passes(&w.layer, &w.part[i], part->part.turns / plan->slots->layers);
        else add_passes(part->part.place == PACE_PART_TAIL ? &w.tail : &w.head, &w.part[i], 1);
    }
    return w;
}

/* Whether gradients of weights come in turns of their own. */
static bool puts_off(const pace_step_plan *plan) {
    return plan->config.pp > 1 && pace_schedule_splits(plan->config.schedule) && reduces(plan);
}

/* A pass on two clocks, or on one that has both. */
static pace_clocks pass_clocks_of(const pace_passes *w, bool hosts) {
    double both_s = pace_most(pace_passes_s(w), w->issue_s);
    return hosts ? w->clocks : (pace_clocks){0, both_s, both_s};
}

/* Where gradients of weights come in a turn of their own. */
static void put_off(pace_gathered_block *block, const pace_step_factors *f, const pace_slot *backward, double packed_s,
                    bool hosts) {
    const pace_clocks all = block->pass[PACE_TURN_BACKWARD];
    double later_s = fmin(all.device_s, weights_s(f, backward) + packed_s);
    double later_host_s = hosts ? fmin(all.host_s, f->launch * backward->weights_host_s) : 0;
    block->pass[PACE_TURN_WEIGHTS] = (pace_clocks){later_host_s, later_s, pace_most(later_host_s, later_s)};
    pace_clocks inputs = {all.host_s - later_host_s, all.device_s - later_s, 0};
    inputs.idle_s = pace_most(inputs.host_s, inputs.device_s) + all.idle_s - pace_most(all.host_s, all.device_s);
    block->pass[PACE_TURN_INPUTS] = inputs;
}

/* A part as ZeRO gathers it. */
static pace_gathered_block gathered_block(const pace_step_plan *plan, const pace_step_factors *f,
                                          const pace_slot_part *part, bool hosts) {
    const pace_step_shards of = shards_of(plan, part);
    double again = pace_factor_of(f, plan->gradient_across), all = plan->slots->trained_parameters;
    pace_gathered_block block = {.gather_s = again * of.gather_s};
    bool flat = plan->config.zero_stage >= 3;
    const double *host_s = plan->slots->rest_host_s;
    if (hosts) block.call_s = f->launch * (flat ? flat_host_s(plan, part->part.tensors) : host_s[PACE_REST_GATHER]);
    if (flat) block.unpacks_s = f->stream * of.unpack_s;
    if (plan->config.zero_stage == 2) block.unpack.device_s = f->stream * of.unpack_s;
    if (plan->config.zero_stage == 2 && hosts)
        block.unpack.host_s = f->launch * (flat_host_s(plan, part->part.tensors) - host_s[PACE_REST_GATHER]);
    block.unpack.idle_s = pace_most(block.unpack.host_s, block.unpack.device_s);
    bool last = part->part.place == PACE_PART_TAIL && part->part.behind >= plan->slots->layers;
    double trained = part->part.trained_parameters + part->part.trained_expert_parameters;
    if (all > 0) block.share = (trained + (last ? pace_tied_share(plan).trained : 0)) / all;
    double held = part->part.parameters + part->part.expert_parameters;
    if (held > 0) block.put_off = part->part.put_off_parameters / held;
    if (reduces(plan)) block.reduce_s = again * (of.scatter_s + of.replicate_s);
    for (int way = 0; way < 2 && hosts; way++) block.moved_s[way] = plan->copies_s[way][part - plan->slots->parts];
    for (int pass = 0; pass < PACE_PART_PASSES; pass++) {
        bool forward = pass == PACE_PART_FORWARD, trains = plan->config.mode == PACE_TRAINING;
        const slot_shards alone = {.copy_s = copies_s(plan, &of, pass), .move_s = move_host_s(plan, part, pass)};
        pace_passes w = slot_passes(plan, f, &part->pass[pass], &alone);
        pace_clocks *sum = &block.pass[forward ? PACE_TURN_FORWARD : PACE_TURN_BACKWARD];
        if (forward || trains) *sum = pace_clocks_then(*sum, pass_clocks_of(&w, hosts));
    }
    put_off(&block, f, &part->pass[PACE_PART_BACKWARD], packed_s(plan, f, &of), hosts);
    return block;
}

/* Tails of a part of the model that so many layers come before. */
static size_t add_tails(const pace_gathered_block **out, const pace_step_plan *plan, const pace_gathered_block *blocks,
                        uint32_t part, double behind) {
    size_t count = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_model_part *tail = &plan->slots->parts[i].part;
        bool here = tail->place == PACE_PART_TAIL && tail->behind == behind;
        if (here && pace_step_tail_part(plan, tail) == part) out[count++] = &blocks[i];
    }
    return count;
}

/* What a part of the model holds, in order; the first may be the head alone, and the last the tail. */
static size_t blocks_of_part(const pace_gathered_block **out, const pace_step_plan *plan,
                             const pace_gathered_block *blocks, uint32_t part) {
    const pace_step_slots *slots = plan->slots;
    unsigned first = (unsigned)pace_layers_before(&plan->cut, slots->layers, part);
    unsigned end = (unsigned)pace_layers_before(&plan->cut, slots->layers, part + 1);
    size_t count = 0;
    for (unsigned i = 0; part == 0 && i < slots->count; i++)
        if (slots->parts[i].part.place == PACE_PART_HEAD) out[count++] = &blocks[i];
    if (first == end) count += add_tails(out + count, plan, blocks, part, end);
    for (unsigned turn = first; turn < end && turn < slots->turns; turn++) {
        out[count++] = &blocks[slots->turn[turn]];
        count += add_tails(out + count, plan, blocks, part, turn + 1);
    }
    return count;
}

_Static_assert(PACE_GATHERED_BLOCKS >= PACE_SLOT_TURNS + PACE_SLOT_PARTS, "all parts of a model");

void pace_stage_blocks_of(pace_stage_blocks *out, const pace_step_plan *plan, const pace_step_factors *f, double stage,
                          bool hosts) {
    size_t used = 0;
    out->count = 0;
    for (unsigned i = 0; i < plan->slots->count; i++)
        out->blocks[i] = gathered_block(plan, f, &plan->slots->parts[i], hosts);
    for (uint32_t part = 0; part < plan->cut.stages * plan->cut.chunks && out->count < PACE_STAGE_CHUNKS; part++) {
        if (pace_pipeline_stage(&plan->cut, part) != stage) continue;
        pace_gathered_chunk *chunk = &out->chunks[out->count++];
        chunk->blocks = &out->order[used];
        chunk->count = blocks_of_part(&out->order[used], plan, out->blocks, part);
        used += chunk->count;
    }
}

/* What nothing hides of the gathers and scatters of each chunk of a stage, by pass. */
static void exposed_shards(double (*out_s)[PACE_GATHERED_PASSES], const pace_step_plan *plan,
                           const pace_step_factors *f, double stage) {
    pace_stage_blocks of;
    pace_stage_blocks_of(&of, plan, f, stage, false);
    const pace_turn_pass whole[] = {PACE_TURN_FORWARD, PACE_TURN_BACKWARD};
    const pace_turn_pass split[] = {PACE_TURN_FORWARD, PACE_TURN_INPUTS, PACE_TURN_WEIGHTS};
    bool splits = puts_off(plan);
    int passes = plan->config.mode != PACE_TRAINING ? 1 : splits ? 3 : 2;
    pace_gathers_exposed(out_s, of.chunks, of.count, splits ? split : whole, passes);
}

/* --- activations that are copied ---------------------------------------------------------------------------------- */

/* A part whose activations are copied; passes both ways have no host of their own. */
static pace_gathered_block moved_block(const pace_model_passes *w, const pace_passes *part, double out_s, double in_s) {
    double forward_s = pace_passes_s(part) - part->backward_s, back_s = part->backward_s;
    pace_gathered_block block = {
        .pass = {[PACE_TURN_FORWARD] = {0, forward_s, forward_s}, [PACE_TURN_BACKWARD] = {0, back_s, back_s}},
        .moved_s = {out_s, in_s}};
    if (w->has[0] != w->has[1]) block.pass[w->has[1] ? PACE_TURN_BACKWARD : PACE_TURN_FORWARD] = part->clocks;
    return block;
}

/* What a pass of a chunk would end sooner, with its host beside the device, if it did not wait for a copy; what the
 * host takes besides may hide it. */
static double saved_s(const pace_passes *sum, double idle_s, double without_s) {
    double before_s = sum->clocks.idle_s;
    return pace_most(before_s, idle_s) - pace_most(before_s, idle_s - without_s);
}

/* Adds to a chunk's passes what the device waits for copies, whether or not its host is ahead. */
static void add_waits(pace_passes *sum, const pace_model_passes *w, const pace_gathered_chunk *chunk) {
    pace_copy_waits waits = pace_chunk_copy_waits(chunk);
    double idle_s = sum->clocks.idle_s;
    for (int way = 0; way < 2; way++) {
        if (!w->has[way]) continue;
        sum->waits_s += waits.waits_s[way];
        idle_s = pace_most(idle_s, waits.idle_s[way]);
    }
    if (w->has[0]) {
        sum->leaves_s[PACE_HOST_AHEAD] = waits.leaves_s[PACE_HOST_AHEAD];
        sum->leaves_s[PACE_HOST_BESIDE] = saved_s(sum, waits.idle_s[0], waits.leaves_s[PACE_HOST_BESIDE]);
    }
    if (w->has[1]) {
        sum->backward_s += waits.waits_s[1];
        sum->hides = waits.hides;
        sum->ahead_s[PACE_HOST_AHEAD] = waits.ahead_s[PACE_HOST_AHEAD];
        sum->ahead_s[PACE_HOST_BESIDE] = saved_s(sum, waits.idle_s[1], waits.ahead_s[PACE_HOST_BESIDE]);
    }
    sum->compute_s += sum->waits_s;
    sum->clocks.device_s += sum->waits_s;
    sum->clocks.idle_s = idle_s;
}

/* Of a part of the model. */
static void wait_for_copies(pace_passes *sum, const pace_step_plan *plan, const pace_model_passes *w, uint32_t number) {
    pace_gathered_block blocks[PACE_SLOT_PARTS];
    const pace_gathered_block *order[PACE_GATHERED_BLOCKS];
    if (!pace_step_copies_activations(plan)) return;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_model_part *part = &plan->slots->parts[i].part;
        blocks[i] = moved_block(w, &w->part[i], plan->copies_s[0][i], plan->copies_s[1][i]);
        blocks[i].share = part->trained_parameters + part->trained_expert_parameters;
    }
    pace_gathered_chunk chunk = {order, blocks_of_part(order, plan, blocks, number)};
    if (chunk.count > 0) add_waits(sum, w, &chunk);
}

/* Of a chunk of mean layers. */
static void wait_for_mean_copies(pace_passes *sum, const pace_step_plan *plan, const pace_model_passes *w) {
    const pace_gathered_block *order[PACE_SLOT_TURNS];
    double layers = plan->slots->layers, chunks = plan->config.pp * plan->config.vpp, moved_s[2] = {0, 0};
    if (!pace_step_copies_activations(plan)) return;
    for (unsigned i = 0; i < plan->slots->count; i++)
        for (int way = 0; way < 2; way++)
            moved_s[way] += plan->copies_s[way][i] * plan->slots->parts[i].part.turns / layers;
    pace_gathered_block block = moved_block(w, &w->layer, moved_s[0], moved_s[1]);
    block.share = 1;
    pace_gathered_chunk chunk = {order, (size_t)fmax(1, fmin(PACE_SLOT_TURNS, round(layers / chunks)))};
    for (size_t i = 0; i < chunk.count; i++) order[i] = &block;
    add_waits(sum, w, &chunk);
}

/* --- stages and their chunks -------------------------------------------------------------------------------------- */

/* Whether layers are known one by one, and a framework cuts them as src/model does. */
static bool has_layers(const pace_step_plan *plan) { return is_lowered(plan) && plan->slots->turns > 0; }

/* Whether a tail is of a part of the model, or where no part is said of a stage. */
static bool is_tail_of(const pace_step_plan *plan, const pace_model_part *tail, double stage, double part) {
    if (tail->place != PACE_PART_TAIL) return false;
    return part < 0 ? pace_step_tail_stage(plan, tail) == stage : pace_step_tail_part(plan, tail) == part;
}

/* Before the layers that are summed comes the head, behind them come their tails; backward the other way. */
static void add_ends(pace_passes *sum, const pace_step_plan *plan, const pace_model_passes *w, double stage,
                     double part) {
    pace_clocks body = sum->clocks, head = {0}, tail = {0};
    if (part < 0 ? stage == 0 : part == 0) add_passes(sum, &w->head, 1), head = w->head.clocks;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        if (!is_tail_of(plan, &plan->slots->parts[i].part, stage, part)) continue;
        add_passes(sum, &w->part[i], 1);
        tail = pace_clocks_then(tail, w->part[i].clocks);
    }
    sum->clocks = pace_clocks_then(pace_clocks_then(w->back ? tail : head, body), w->back ? head : tail);
}

/* Each pass is one graph, whose replay its parts share. */
static void add_graphs(pace_passes *sum, const pace_step_plan *plan, const pace_step_factors *f,
                       const pace_model_passes *w) {
    double each_s = f->launch * plan->slots->rest_host_s[PACE_REST_GRAPH], back = w->has[1];
    if (w->has[1] && puts_off(plan)) back++, sum->weights_host_s += each_s;
    double all_s = (w->has[0] + back) * each_s;
    sum->hosts_s += all_s;
    sum->issue_s += all_s;
    sum->backward_issue_s += back * each_s;
    sum->clocks = pace_clocks_then(sum->clocks, (pace_clocks){all_s, 0, all_s});
}

/* The part of the model that begins with the layer `first`. */
static pace_passes passes_of_part(const pace_step_plan *plan, const pace_step_factors *f, const pace_model_passes *w,
                                  double part, double first, double layers) {
    pace_passes sum = {0};
    for (double i = first; i < first + layers && i < plan->slots->turns; i++)
        add_passes(&sum, &w->part[plan->slots->turn[(unsigned)i]], 1);
    add_ends(&sum, plan, w, 0, part);
    wait_for_copies(&sum, plan, w, (uint32_t)part);
    add_graphs(&sum, plan, f, w);
    return sum;
}

static void add_chunk(pace_passes *sum, const pace_passes *chunk, bool back) {
    const pace_clocks before = sum->clocks;
    add_passes(sum, chunk, 1);
    sum->clocks = back ? pace_clocks_then(chunk->clocks, before) : pace_clocks_then(before, chunk->clocks);
}

enum { ALL_CHUNKS = -1 };

/* One chunk of a stage, or all of them, layer by layer. */
static pace_passes chunk_passes(const pace_step_plan *plan, const pace_step_factors *f, const pace_model_passes *w,
                                double stage, double chunk) {
    double first = 0, number = 0, parts = plan->config.pp * plan->config.vpp;
    double exposed_s[PACE_STAGE_CHUNKS][PACE_GATHERED_PASSES];
    bool gathers = plan->config.zero_stage >= 3;
    pace_passes sum = {0};
    if (gathers) exposed_shards(exposed_s, plan, f, stage);
    for (double part = 0; part < parts; part++) {
        double layers = pace_part_layers(&plan->cut, plan->slots->layers, (uint32_t)part);
        bool own = pace_pipeline_stage(&plan->cut, (uint32_t)part) == stage;
        if (own && (chunk == ALL_CHUNKS || chunk == number)) {
            pace_passes one = passes_of_part(plan, f, w, part, first, layers);
            const double *of_pass = exposed_s[(size_t)fmin(number, PACE_STAGE_CHUNKS - 1)];
            double back_s = 0;
            for (int pass = PACE_TURN_BACKWARD; gathers && pass < PACE_GATHERED_PASSES; pass++) back_s += of_pass[pass];
            if (gathers) one.data_s = (w->has[0] ? of_pass[PACE_TURN_FORWARD] : 0) + (w->has[1] ? back_s : 0);
            if (number == 0 || chunk == number) sum = one;
            else add_chunk(&sum, &one, w->back);
        }
        number += own;
        first += layers;
    }
    return sum;
}

/* As many layers of all kinds as the stage has. */
static pace_passes mean_passes(const pace_step_plan *plan, const pace_model_passes *w, double stage) {
    pace_passes sum = {0};
    add_passes(&sum, &w->layer, pace_step_layers_of(plan, stage));
    add_ends(&sum, plan, w, stage, -1);
    wait_for_mean_copies(&sum, plan, w);
    return sum;
}

pace_passes pace_stage_passes_of(const pace_step_plan *plan, const pace_step_factors *f, const pace_model_passes *w,
                                 double stage) {
    return has_layers(plan) ? chunk_passes(plan, f, w, stage, ALL_CHUNKS) : mean_passes(plan, w, stage);
}

pace_passes pace_chunk_passes_of(const pace_step_plan *plan, const pace_step_factors *f, const pace_model_passes *w,
                                 double stage, double chunk) {
    if (has_layers(plan)) return chunk_passes(plan, f, w, stage, chunk);
    pace_passes all = mean_passes(plan, w, stage), each = {0};
    add_passes(&each, &all, 1 / plan->config.vpp);
    return each;
}

pace_passes pace_slot_passes_of(const pace_step_plan *plan, const pace_step_factors *f, const pace_slot *slot) {
    const slot_shards none = {0};
    return slot_passes(plan, f, slot, &none);
}
