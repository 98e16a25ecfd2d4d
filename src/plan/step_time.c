#include "plan/step_time.h"

#include "model/pipeline_stages.h"
#include "plan/gather_lanes.h"
#include "plan/two_clocks.h"

pace_step_factors pace_step_factors_none(void) { return (pace_step_factors){1, 1, 1, 1, 1, 1, 1, 1, 1}; }

static double larger(double a, double b) { return a > b ? a : b; }

/* A stage's passes of one micro-batch, or sums of them. */
typedef struct {
    double compute_s, host_s, group_s[PACE_SLOT_GROUPS];
    double data_s;                                /* ZeRO 3 */
    double issue_s, backward_s, backward_issue_s; /* of these operators: the host's time; backward on the device */
    double weights_s;                             /* products that form gradients of weights */
    double weights_host_s;                        /* of hosts_s, where they come in a turn of their own */
    double products_s, hosts_s;                   /* of compute_s products and attention; the host's whole time */
    pace_clocks clocks;                           /* lowered frameworks: of passes one way, in their order */
} work;

static bool is_lowered(const pace_step_plan *plan) { return pace_framework_is_lowered(plan->framework); }

static double total(const work *w) {
    double sum = w->compute_s + w->host_s + w->data_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) sum += w->group_s[g];
    return sum;
}

static void add(work *into, const work *w, double times) {
    into->clocks = pace_clocks_then(into->clocks, pace_clocks_times(w->clocks, times));
    into->compute_s += times * w->compute_s;
    into->host_s += times * w->host_s;
    into->data_s += times * w->data_s;
    into->issue_s += times * w->issue_s;
    into->backward_s += times * w->backward_s;
    into->backward_issue_s += times * w->backward_issue_s;
    into->weights_s += times * w->weights_s;
    into->weights_host_s += times * w->weights_host_s;
    into->products_s += times * w->products_s;
    into->hosts_s += times * w->hosts_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) into->group_s[g] += times * w->group_s[g];
}

/* What of an exchange is left when a share of it may hide behind work. */
static double exposed(double exchange_s, double overlap, double hidden, double cover_s) {
    double share = 1 - overlap < 1 ? (1 - overlap) * hidden : 1;
    double may_hide = exchange_s * (share < 1 ? 1 - share : 0);
    return exchange_s - (may_hide < cover_s ? may_hide : cover_s);
}

static double factor(const pace_step_factors *f, bool across) { return across ? f->between : f->inside; }

/* ZeRO 3, of one slot: parameters gathered, gradients scattered; work beside its own that hides them. */
typedef struct {
    double gather_s, reduce_s, beside_s;
    double copy_s; /* out of and into flat buffers */
} slot_shards;

/* What the host takes to issue both. */
static double shard_host_s(const pace_step_plan *plan, const slot_shards *shards) {
    return ((shards->gather_s > 0) + (shards->reduce_s > 0)) * plan->slots->rest_host_s[PACE_REST_SHARD];
}

static work slot_work(const pace_step_plan *plan, const pace_step_factors *f, const pace_slot *slot,
                      const slot_shards *shards) {
    const pace_framework *framework = plan->framework;
    const double overlap[PACE_SLOT_GROUPS] = {framework->overlap_tensor, framework->overlap_context,
                                              framework->overlap_expert};
    work w = {.products_s = f->matrix * slot->matrix_s + f->attention * plan->attention * slot->attention_s};
    w.compute_s = w.products_s + f->stream * (slot->stream_s + shards->copy_s) + slot->gap_s;
    double device_s = w.compute_s,
           host_s = f->launch * (framework->launch_s * slot->launches + framework->dispatch_s * slot->dispatches +
                                 slot->host_s + shard_host_s(plan, shards));
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) {
        double alone_s = factor(f, plan->slots->across[g]) * slot->exchange_s[g];
        w.group_s[g] = alone_s > 0 ? exposed(alone_s, overlap[g], f->hidden, w.compute_s) : 0;
        device_s += w.group_s[g];
    }
    w.hosts_s = host_s;
    w.weights_host_s = f->launch * slot->weights_host_s;
    /* an eager host runs ahead where kernels are long, and makes good where they are short */
    if (is_lowered(plan)) w.issue_s = host_s;
    else if (host_s > device_s) w.host_s = host_s - device_s;
    bool one_block = is_lowered(plan) && plan->slots->layers < 2; /* no other hides what it gathers and scatters */
    double cover_s = one_block ? 0 : shards->beside_s + (host_s > device_s ? host_s : device_s);
    double exchanged_s = factor(f, plan->gradient_across) * (shards->gather_s + shards->reduce_s);
    if (exchanged_s > 0) w.data_s = exposed(exchanged_s, framework->overlap_gradients, f->hidden, cover_s);
    double alone_s = total(&w);
    w.clocks = (pace_clocks){host_s, alone_s, larger(host_s, alone_s) + slot->turns_s};
    return w;
}

/* Of a backward pass, gradients of weights: without more known half of its products. */
static double weights_s(const pace_step_factors *f, const pace_slot *backward) {
    return backward->weights_s > 0 ? backward->weights_s : f->matrix * backward->matrix_s / 2;
}

/* Gradients of frozen parameters are not formed. */
static bool reduces(const pace_step_plan *plan) { return pace_config_trains(&plan->config); }

/* A part of the head, the tail or the layers takes its share of what all of them together, or a mean one, take. */
static pace_step_shards shards_of(const pace_step_plan *plan, const pace_slot_part *part) {
    const pace_step_shards *all = &plan->shards[part->part.place];
    double own = plan->config.zero_stage < 3 ? part->part.trained_parameters + part->part.trained_expert_parameters
                                             : part->part.parameters + part->part.expert_parameters;
    bool last = part->part.place == PACE_PART_TAIL && part->part.behind >= plan->slots->layers;
    if (last && plan->config.pp > 1 && !pace_schedule_is_v(plan->config.schedule)) own += plan->slots->tied_parameters;
    double share = all->elements > 0 ? own / all->elements : 0;
    return (pace_step_shards){own,
                              share * all->gather_s,
                              share * all->scatter_s,
                              share * all->replicate_s,
                              share * all->unpack_s,
                              share * all->pack_s};
}

/* What a pass of a part copies out of and into flat buffers. */
static double copies_s(const pace_step_plan *plan, const pace_step_shards *of, int pass) {
    if (plan->config.zero_stage < 3 || pass == PACE_PART_RECOMPUTE) return 0;
    return of->unpack_s + (pass == PACE_PART_BACKWARD && reduces(plan) ? of->pack_s : 0);
}

/* All passes of one micro-batch over a part: forward, and backward with what runs again before it. */
static work part_work(const pace_step_plan *plan, const pace_step_factors *f, const pace_slot_part *part,
                      pace_part_pass from, pace_part_pass to) {
    work w = {0};
    const pace_step_shards of = plan->config.zero_stage >= 3 ? shards_of(plan, part) : (pace_step_shards){0};
    double again_s = 0;
    bool trains = plan->config.mode == PACE_TRAINING;
    for (int pass = (int)from; pass <= (int)to; pass++) {
        bool backward = pass == PACE_PART_BACKWARD;
        if (pass != PACE_PART_FORWARD && !trains) continue;
        slot_shards shards = {.gather_s = pass == PACE_PART_RECOMPUTE ? 0 : of.gather_s,
                              .reduce_s = backward && reduces(plan) ? of.scatter_s + of.replicate_s : 0,
                              .beside_s = backward && is_lowered(plan) ? again_s : 0,
                              .copy_s = copies_s(plan, &of, pass)};
        pace_slot slot = part->pass[pass];
        if (backward)
            slot.stream_s += plan->add_s * (part->part.trained_parameters + part->part.trained_expert_parameters);
        work one = slot_work(plan, f, &slot, &shards);
        if (pass == PACE_PART_RECOMPUTE) again_s = total(&one);
        if (pass != PACE_PART_FORWARD) {
            one.backward_s = total(&one);
            one.backward_issue_s = one.issue_s;
        }
        if (backward && pace_config_trains_all(&plan->config)) one.weights_s = weights_s(f, &part->pass[pass]);
        add(&w, &one, 1);
    }
    return w;
}

typedef struct {
    work slowest; /* of one micro-batch */
    double slowest_s, all_s, weights_s, backward_s;
    double put_off_s; /* zero-bubble: gradients of weights that the slowest stage forms while the others drain */
} pipeline;

/* Work of one micro-batch on the parts of a model, and of a layer as all kinds together make it. */
typedef struct {
    work part[PACE_SLOT_PARTS], layer, head, tail;
    bool back;   /* passes from the model's end to its beginning */
    bool has[2]; /* forward, backward */
} model_work;

static model_work work_of(const pace_step_plan *plan, const pace_step_factors *f, pace_part_pass from,
                          pace_part_pass to) {
    model_work w = {.back = from != PACE_PART_FORWARD, .has = {from == PACE_PART_FORWARD, to == PACE_PART_BACKWARD}};
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        w.part[i] = part_work(plan, f, part, from, to);
        if (part->part.place == PACE_PART_LAYER) add(&w.layer, &w.part[i], part->part.turns / plan->slots->layers);
        else add(part->part.place == PACE_PART_TAIL ? &w.tail : &w.head, &w.part[i], 1);
    }
    return w;
}

/* Whether gradients of weights come in turns of their own. */
static bool puts_off(const pace_step_plan *plan) {
    return plan->config.pp > 1 && pace_schedule_splits(plan->config.schedule) && reduces(plan);
}

/* A pass on two clocks, or on one that has both. */
static pace_clocks pass_clocks_of(const work *w, bool hosts) {
    double both_s = larger(total(w), w->issue_s);
    return hosts ? w->clocks : (pace_clocks){0, both_s, both_s};
}

/* A part as ZeRO gathers it. */
static pace_gathered_block gathered_block(const pace_step_plan *plan, const pace_step_factors *f,
                                          const pace_slot_part *part, bool hosts) {
    const pace_step_shards of = shards_of(plan, part);
    double again = factor(f, plan->gradient_across), all = plan->slots->trained_parameters;
    pace_gathered_block block = {.gather_s = again * of.gather_s};
    bool flat = plan->config.zero_stage >= 3;
    if (hosts) block.call_s = f->launch * plan->slots->rest_host_s[flat ? PACE_REST_SHARD : PACE_REST_GATHER];
    if (all > 0) block.share = (part->part.trained_parameters + part->part.trained_expert_parameters) / all;
    if (reduces(plan)) block.reduce_s = again * (of.scatter_s + of.replicate_s);
    for (int pass = 0; pass < PACE_PART_PASSES; pass++) {
        bool forward = pass == PACE_PART_FORWARD, trains = plan->config.mode == PACE_TRAINING;
        const slot_shards alone = {.copy_s = copies_s(plan, &of, pass)};
        work w = slot_work(plan, f, &part->pass[pass], &alone);
        if (forward || trains) block.pass[!forward] = pace_clocks_then(block.pass[!forward], pass_clocks_of(&w, hosts));
    }
    if (puts_off(plan)) {
        double later_s = weights_s(f, &part->pass[PACE_PART_BACKWARD]);
        block.pass[1].device_s -= later_s;
        block.pass[1].idle_s -= later_s;
        block.pass[2] = (pace_clocks){0, later_s, later_s};
    }
    return block;
}

/* Which parts a chunk has that begins with the layer `first`, in their order; tails belong to the layer they are behind. */
static size_t parts_of_chunk(const pace_gathered_block **out, const pace_step_slots *slots,
                             const pace_gathered_block *blocks, double first, double layers) {
    size_t count = 0;
    for (unsigned i = 0; first == 0 && i < slots->count; i++)
        if (slots->parts[i].part.place == PACE_PART_HEAD) out[count++] = &blocks[i];
    for (double turn = first; turn < first + layers && turn < slots->turns; turn++) {
        out[count++] = &blocks[slots->turn[(unsigned)turn]];
        for (unsigned i = 0; i < slots->count; i++)
            if (slots->parts[i].part.place == PACE_PART_TAIL && slots->parts[i].part.behind == turn + 1)
                out[count++] = &blocks[i];
    }
    return count;
}

enum { STAGE_CHUNKS = 64 };

/* Chunks of a stage, each with its parts in order. */
typedef struct {
    pace_gathered_block blocks[PACE_SLOT_PARTS];
    const pace_gathered_block *order[PACE_GATHERED_BLOCKS];
    pace_gathered_chunk chunks[STAGE_CHUNKS];
    size_t count;
} stage_blocks;

_Static_assert(PACE_GATHERED_BLOCKS >= PACE_SLOT_TURNS + PACE_SLOT_PARTS, "all parts of a model");

static void blocks_of(stage_blocks *out, const pace_step_plan *plan, const pace_step_factors *f, double stage,
                      bool hosts) {
    const pace_pipeline shape = pace_config_pipeline(&plan->config);
    size_t used = 0;
    double first = 0, vpp = plan->config.vpp;
    out->count = 0;
    for (unsigned i = 0; i < plan->slots->count; i++)
        out->blocks[i] = gathered_block(plan, f, &plan->slots->parts[i], hosts);
    for (uint32_t part = 0; part < plan->config.pp * vpp && out->count < STAGE_CHUNKS; part++) {
        uint32_t own = pace_pipeline_stage(&shape, part);
        double layers = pace_part_layers(&shape, plan->slots->layers, part);
        if (own == stage) {
            pace_gathered_chunk *chunk = &out->chunks[out->count++];
            chunk->blocks = &out->order[used];
            chunk->count = parts_of_chunk(&out->order[used], plan->slots, out->blocks, first, layers);
            used += chunk->count;
        }
        first += layers;
    }
}

/* What nothing hides of a stage's gathers and scatters, forward and backward. */
static void exposed_shards(double out_s[PACE_GATHERED_PASSES], const pace_step_plan *plan, const pace_step_factors *f,
                           double stage) {
    stage_blocks of;
    blocks_of(&of, plan, f, stage, false);
    pace_gathers_exposed(out_s, of.chunks, of.count, plan->config.mode != PACE_TRAINING ? 1 : puts_off(plan) ? 3 : 2);
}

/* The layers of a stage as they come, where frameworks cut as src/model does; else as many of all kinds. */
static work stage_work(const pace_step_plan *plan, const pace_step_factors *f, const model_work *w, double stage,
                       double layers) {
    const pace_pipeline shape = pace_config_pipeline(&plan->config);
    double pp = plan->config.pp, vpp = plan->config.vpp;
    work sum = {0};
    if (!is_lowered(plan) || plan->slots->turns == 0) add(&sum, &w->layer, layers);
    double before = 0; /* layers of the parts before, in the model's order */
    for (double part = 0; is_lowered(plan) && plan->slots->turns > 0 && part < pp * vpp; part++) {
        double own = pace_pipeline_stage(&shape, (uint32_t)part),
               many = pace_part_layers(&shape, plan->slots->layers, (uint32_t)part);
        for (double i = before; own == stage && i < before + many && i < plan->slots->turns; i++)
            add(&sum, &w->part[plan->slots->turn[(unsigned)i]], 1);
        before += many;
    }
    pace_clocks body = sum.clocks, head = {0}, tail = {0};
    if (stage == 0) add(&sum, &w->head, 1), head = w->head.clocks;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_model_part *part = &plan->slots->parts[i].part;
        if (part->place != PACE_PART_TAIL || pace_step_tail_stage(plan, part) != stage) continue;
        add(&sum, &w->part[i], 1);
        tail = pace_clocks_then(tail, w->part[i].clocks);
    }
    sum.clocks = pace_clocks_then(pace_clocks_then(w->back ? tail : head, body), w->back ? head : tail);
    if (is_lowered(plan) && plan->config.zero_stage >= 3 && plan->slots->turns > 0) {
        double exposed_s[PACE_GATHERED_PASSES];
        exposed_shards(exposed_s, plan, f, stage);
        sum.data_s = (w->has[0] ? exposed_s[0] : 0) + (w->has[1] ? exposed_s[1] + exposed_s[2] : 0);
    }
    return sum;
}

/* All passes of one micro-batch, in their order, of a stage that is alone: of the first, of the later ones, which add their
 * gradients, and of the last, whose gradients go into buckets. `around`: from one loss that is read before backward to the
 * next, with one micro-batch. */
typedef struct {
    pace_clocks forward, first, later, last, around;
} pass_clocks;

static pass_clocks clocks_of(const pace_step_plan *plan, const pace_step_factors *f) {
    if (!is_lowered(plan) || plan->config.pp > 1) return (pass_clocks){0};
    model_work ahead = work_of(plan, f, PACE_PART_FORWARD, PACE_PART_FORWARD);
    model_work back = work_of(plan, f, PACE_PART_RECOMPUTE, PACE_PART_BACKWARD);
    pace_clocks forward = stage_work(plan, f, &ahead, 0, plan->layers_first).clocks;
    pace_clocks backward = stage_work(plan, f, &back, 0, plan->layers_first).clocks;
    pace_clocks adds = pace_clocks_with(backward, f->launch * plan->accumulate_host_s, plan->accumulate_s);
    pace_clocks last = pace_clocks_with(adds, f->launch * plan->gradient_host_s, plan->gradient_cover_s);
    pace_clocks rest = {f->launch * (plan->rest_host_s - plan->gradient_host_s),
                        plan->rest_s - plan->gradient_cover_s + f->update * plan->update_s, 0};
    rest.idle_s = larger(rest.host_s, rest.device_s);
    return (pass_clocks){forward, pace_clocks_then(forward, backward), pace_clocks_then(forward, adds),
                         pace_clocks_then(forward, last), pace_clocks_then(pace_clocks_then(last, rest), forward)};
}

/* Of stages in the middle, which may differ where a model has several kinds of layers, the slowest. */
static work slowest_between(const pace_step_plan *plan, const pace_step_factors *f, const model_work *w) {
    work slowest = {0};
    bool alike = !is_lowered(plan) || plan->slots->count <= 3;
    double last = plan->config.pp - 2;
    if (alike) return stage_work(plan, f, w, plan->fullest, plan->layers_most);
    for (double stage = 1; stage <= last; stage++) {
        work one = stage_work(plan, f, w, stage, pace_step_layers_of(plan, stage));
        if (total(&one) > total(&slowest)) slowest = one;
    }
    return slowest;
}

static pipeline stages_of(const pace_step_plan *plan, const pace_step_factors *f) {
    model_work w = work_of(plan, f, PACE_PART_FORWARD, PACE_PART_BACKWARD);
    double pp = plan->config.pp;
    pipeline p = {.all_s = total(&w.head) + total(&w.tail) + plan->slots->layers * total(&w.layer),
                  .weights_s = w.head.weights_s + w.tail.weights_s + plan->slots->layers * w.layer.weights_s,
                  .backward_s = w.head.backward_s + w.tail.backward_s + plan->slots->layers * w.layer.backward_s};
    p.slowest = stage_work(plan, f, &w, 0, plan->layers_first);
    if (pp > 1) {
        work first = p.slowest, last = stage_work(plan, f, &w, pp - 1, plan->layers_last), middle = {0};
        if (pp > 2) middle = slowest_between(plan, f, &w);
        p.slowest = total(&first) > total(&last) ? first : last;
        bool is_last = !(total(&first) > total(&last)) && !(total(&middle) > total(&last));
        if (total(&middle) > total(&p.slowest)) p.slowest = middle;
        p.put_off_s = is_last ? pp * last.weights_s - first.weights_s : p.weights_s - p.slowest.weights_s;
    }
    p.slowest_s = total(&p.slowest);
    return p;
}

/* What filling and draining adds to the slowest stage's work (Narayanan et al. 2021, sections 2.2.1 and 2.2.2). */
static double bubble_s(double all_s, double most_s, double chunks) { return (all_s - most_s) / chunks; }

double pace_pipeline_s(const double *stage_s, unsigned stages, double micro_batches, double chunks) {
    double most_s = 0, all_s = 0;
    for (unsigned i = 0; i < stages; i++) {
        all_s += stage_s[i];
        if (stage_s[i] > most_s) most_s = stage_s[i];
    }
    return micro_batches * most_s + bubble_s(all_s, most_s, chunks);
}

/* What the others take: of a zero-bubble order gradients of weights are formed in the bubble, and those of inputs do not wait
 * for them (Qi et al. 2023, table 2). On a V stages turn round by themselves: half as much is left of pairs (DeepSeek-AI's DualPipe,
 * pairs one after the other), and of zb-v what its passes are unlike. */
static double bubble_of(const pace_step_plan *plan, const pipeline *p) {
    double plain_s = bubble_s(p->all_s, p->slowest_s, plan->config.vpp);
    double weights_s = p->weights_s - p->slowest.weights_s, backward_s = p->backward_s - p->slowest.backward_s;
    double inputs_s = backward_s - weights_s, forward_s = p->all_s - p->slowest_s - backward_s;
    switch (plan->config.schedule) {
    case PACE_SCHEDULE_ZERO_BUBBLE: return larger(0, plain_s - (weights_s + p->put_off_s) / plan->config.vpp);
    case PACE_SCHEDULE_ZB_V: return larger(0, larger(forward_s, inputs_s) - weights_s);
    case PACE_SCHEDULE_DUALPIPE_V: return larger(0, (forward_s + inputs_s - weights_s) / 2);
    default: return plain_s;
    }
}

/* Gradients that are all-reduced hide behind the last micro-batch's backward, which takes `backward_s`; parameters that
 * are gathered behind the next step's forward too. */
static double gradients_s(const pace_step_plan *plan, const pace_step_factors *f, const work *slowest,
                          double backward_s) {
    bool both = plan->config.zero_stage > 0 && !is_lowered(plan);
    double cover_s = both ? larger(total(slowest), slowest->issue_s) : backward_s;
    double alone_s =
        factor(f, plan->gradient_across) * plan->gradient_s + factor(f, plan->expert_across) * plan->expert_gradient_s;
    double last_s = factor(f, plan->gradient_across) * plan->last_bucket_s;
    if (is_lowered(plan) && plan->config.pp == 1 && plan->config.zero_stage < 3)
        return larger(pace_gradient_hull_behind_s(&plan->slots->hull, alone_s,
                                                  factor(f, plan->gradient_across) * plan->gradient_starts_s,
                                                  backward_s),
                      last_s);
    return larger(exposed(alone_s, plan->framework->overlap_gradients, f->hidden, cover_s), last_s);
}

/* Whether the host waits until each micro-batch is copied in, and so starts it without a lead. */
static bool waits_for_input(const pace_step_plan *plan) { return plan->input_s > 0 && plan->config.pp == 1; }

/* An eager host runs ahead of the device while the device updates, so backward takes what its kernels take unless the
 * host holds up the whole step, or starts each micro-batch without a lead and is late by its end. */
static double exposed_gradients_s(const pace_step_plan *plan, const pace_step_factors *f, const work *slowest,
                                  const pass_clocks *clocks, double device_s, double host_s) {
    double own_s = slowest->backward_s + plan->gradient_cover_s;
    if (waits_for_input(plan)) own_s = larger(own_s, clocks->last.idle_s - clocks->forward.idle_s);
    double left_s = gradients_s(plan, f, slowest, own_s);
    if (!is_lowered(plan)) return gradients_s(plan, f, slowest, larger(own_s, slowest->backward_issue_s));
    if (device_s + left_s >= host_s) return left_s;
    return gradients_s(plan, f, slowest, larger(own_s, slowest->backward_issue_s));
}

/* Parameters come block by block beside the forward pass of the first micro-batch. */
static double exposed_gathers_s(const pace_step_plan *plan, const pace_step_factors *f, const work *slowest) {
    double left_s = factor(f, plan->gradient_across) * plan->gathered_s - (total(slowest) - slowest->backward_s);
    return larger(factor(f, plan->gradient_across) * plan->gather_first_s, left_s);
}

/* A loss that is read before backward finds the device idle in each step; else a batch's copy does. */
static bool drains_at_loss(const pace_step_plan *plan) {
    return plan->slots->reads_loss == PACE_LOSS_READ_FIRST && !waits_for_input(plan) && plan->micro_batches == 1 &&
           plan->config.pp == 1;
}

static double late_by(pace_clocks clocks) { return larger(0, clocks.idle_s - clocks.device_s); }

/* What the host of a step is late by: it does not wait for the gradients' exchange. A host that reads the loss begins each
 * step with the device, and so is not ahead when backward, which it may issue slowly, has ended. One that waits for each
 * micro-batch that is copied in gains no lead from one to the next: the device is idle while the host issues copies, and
 * it may be late within each micro-batch; behind the last it may be late in what follows, too. */
static double host_late_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_step_time *t,
                          const pass_clocks *clocks, double device_s, double host_s) {
    double m = plan->micro_batches, late_s = host_s - device_s - t->data_s - t->bubble_s - t->pipeline_s;
    if (plan->slots->reads_loss == PACE_LOSS_READ_LAST)
        late_s += larger(0, t->update_s - f->launch * plan->update_host_s);
    if (drains_at_loss(plan)) late_s = larger(late_s, late_by(clocks->around));
    if (!waits_for_input(plan)) return larger(0, late_s);
    double first = m > 1 ? 1 : 0, later = m > 2 ? m - 2 : 0;
    double before_s = first * late_by(clocks->first) + later * late_by(clocks->later);
    late_s -= first * (clocks->first.host_s - clocks->first.device_s) +
              later * (clocks->later.host_s - clocks->later.device_s) + m * (plan->input_host_s - plan->input_s);
    return m * plan->input_host_s + before_s + larger(late_by(clocks->last), late_s);
}

/* What is less than formulas thought, the host is less late, and less of exchanges is exposed. */
static void add_turns(pace_step_time *t, const pace_step_plan *plan) {
    double *late_s = plan->config.pp > 1 ? &t->bubble_s : &t->host_s, *less_s[] = {&t->host_s, &t->data_s};
    *late_s += plan->turns_s;
    for (size_t i = 0; i < sizeof less_s / sizeof *less_s && *late_s < 0; i++) {
        double taken_s = fmin(-*late_s, larger(0, *less_s[i]));
        if (less_s[i] != late_s) *less_s[i] -= taken_s, *late_s += taken_s;
    }
    *late_s = larger(0, *late_s);
}

pace_step_time pace_step_compose(const pace_step_plan *plan, const pace_step_factors *f) {
    const pace_framework *framework = plan->framework;
    pipeline p = stages_of(plan, f);
    pass_clocks clocks = clocks_of(plan, f);
    double m = plan->micro_batches, pp = plan->config.pp, vpp = plan->config.vpp;
    bool trains = plan->config.mode == PACE_TRAINING;
    pace_step_time t = {.compute_s = m * p.slowest.compute_s,
                        .host_s = m * p.slowest.host_s,
                        .tensor_s = m * p.slowest.group_s[PACE_SLOT_TENSOR],
                        .context_s = m * p.slowest.group_s[PACE_SLOT_CONTEXT],
                        .expert_s = m * p.slowest.group_s[PACE_SLOT_EXPERT],
                        .data_s = m * p.slowest.data_s};
    if (pp > 1) {
        double pass_s = factor(f, plan->pass_across) * plan->pass_s, ways = trains ? 2 : 1;
        t.bubble_s = bubble_of(plan, &p);
        /* fill and drain wait for each message; between, each chunk of a micro-batch sends and receives */
        t.pipeline_s = ways * (pp - 1) * pass_s +
                       ways * m * vpp * exposed(pass_s, framework->overlap_pipeline, f->hidden, p.slowest_s);
    }
    if (trains) t.update_s = f->update * plan->update_s;
    double device_s = m * p.slowest_s + plan->rest_s + t.update_s;
    double host_s = m * p.slowest.issue_s + f->launch * plan->rest_host_s;
    if (trains && plan->config.zero_stage < 3)
        t.data_s += exposed_gradients_s(plan, f, &p.slowest, &clocks, device_s, host_s);
    t.data_s += exposed_gathers_s(plan, f, &p.slowest);
    if (trains) t.data_s += factor(f, plan->pass_across) * plan->tied_s;
    if (is_lowered(plan)) {
        t.compute_s += plan->rest_s;
        t.host_s = host_late_s(plan, f, &t, &clocks, device_s, host_s);
    }
    add_turns(&t, plan);
    t.other_s = f->step * framework->step_s;
    t.total_s = t.compute_s + t.host_s + t.tensor_s + t.context_s + t.expert_s + t.pipeline_s + t.data_s + t.bubble_s +
                t.update_s + t.other_s;
    return t;
}

/* --- at least ----------------------------------------------------------------------------------------------------- */

/* Of all passes of a part, without what ZeRO 3 gathers. */
static double least_part_s(const pace_step_plan *plan, const pace_slot_part *part) {
    const pace_step_factors none = pace_step_factors_none();
    const slot_shards no_shards = {0};
    double sum = 0;
    for (int pass = 0; pass < PACE_PART_PASSES; pass++) {
        if (pass != PACE_PART_FORWARD && plan->config.mode != PACE_TRAINING) continue;
        work w = slot_work(plan, &none, &part->pass[pass], &no_shards);
        sum += w.compute_s + w.group_s[PACE_SLOT_TENSOR] + w.group_s[PACE_SLOT_CONTEXT] + w.group_s[PACE_SLOT_EXPERT];
    }
    return sum;
}

/* The slowest stage takes no less than their mean, and where all kinds of layers are spread evenly than the fullest. */
double pace_step_least_s(const pace_step_plan *plan) {
    double layer_s = 0, head_s = 0, tail_s = 0, pp = plan->config.pp;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        double part_s = least_part_s(plan, part);
        if (part->part.place == PACE_PART_LAYER) layer_s += part_s * part->part.turns / plan->slots->layers;
        else *(part->part.place == PACE_PART_HEAD ? &head_s : &tail_s) += part_s;
    }
    double all_s = plan->slots->layers * layer_s + head_s + tail_s, slowest_s = all_s / pp;
    if (!is_lowered(plan))
        slowest_s = larger(slowest_s, larger(plan->layers_first * layer_s + head_s, plan->layers_most * layer_s));
    double step_s = plan->micro_batches * slowest_s;
    if (!is_lowered(plan) && plan->config.schedule == PACE_SCHEDULE_1F1B)
        step_s += bubble_s(all_s, slowest_s, plan->config.vpp);
    return step_s;
}

/* --- one turn of a stage ------------------------------------------------------------------------------------------ */

static pace_turn_work turn_of(const pace_step_plan *plan, double stage, pace_part_pass from, pace_part_pass to) {
    pace_step_factors none = pace_step_factors_none();
    model_work w = work_of(plan, &none, from, to);
    double chunks = plan->config.vpp;
    work all = stage_work(plan, &none, &w, stage, pace_step_layers_of(plan, stage));
    pace_turn_work turn = {.products_s = all.products_s / chunks,
                           .others_s = (all.compute_s - all.products_s) / chunks,
                           .weights_s = all.weights_s / chunks,
                           .host_s = all.hosts_s / chunks,
                           .weights_host_s = all.weights_host_s / chunks,
                           .idle_s = pace_clocks_times(all.clocks, 1 / chunks).idle_s,
                           .data_s = all.data_s / chunks};
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) turn.group_s[g] = all.group_s[g] / chunks;
    return turn;
}

pace_stage_turns pace_step_turns(const pace_step_plan *plan, double stage) {
    pace_step_factors none = pace_step_factors_none();
    pipeline p = stages_of(plan, &none);
    pace_step_time t = pace_step_compose(plan, &none);
    double pass_s = plan->pass_s;
    return (pace_stage_turns){.forward = turn_of(plan, stage, PACE_PART_FORWARD, PACE_PART_FORWARD),
                              .backward = turn_of(plan, stage, PACE_PART_RECOMPUTE, PACE_PART_BACKWARD),
                              .message_s = exposed(pass_s, plan->framework->overlap_pipeline, 1, p.slowest_s),
                              .gradients_s = larger(0, t.data_s - plan->micro_batches * p.slowest.data_s),
                              .update_s = t.update_s,
                              .other_s = t.other_s};
}

/* --- one stage alone ---------------------------------------------------------------------------------------------- */

/* Host and device of what comes once a step, or once a micro-batch. */
static pace_clocks issued(double host_s, double device_s) {
    return (pace_clocks){host_s, device_s, larger(host_s, device_s)};
}

double pace_step_alone_s(const pace_step_plan *plan) {
    const pace_step_factors none = pace_step_factors_none();
    const bool graph = plan->config.execution == PACE_CUDA_GRAPH;
    double m = plan->micro_batches, adds = m - 1;
    double gathers_s = 0, copies = plan->slots->input_copies;
    stage_blocks of;
    blocks_of(&of, plan, &none, 0, true);
    if (plan->config.zero_stage == 1 || plan->config.zero_stage == 2)
        gathers_s = (plan->layers_most + 2) * plan->slots->rest_host_s[PACE_REST_GATHER];
    double host_s = plan->rest_host_s - m * plan->input_host_s - adds * plan->accumulate_host_s - plan->gradient_host_s;
    double device_s = plan->rest_s - m * plan->input_s - adds * plan->accumulate_s - plan->gradient_cover_s;
    return pace_stage_alone_s(&(pace_stage_alone){.chunk = of.chunks[0],
                                                  .micro_batches = m,
                                                  .zero_stage = (int)plan->config.zero_stage,
                                                  .reads_first = plan->slots->reads_loss == PACE_LOSS_READ_FIRST,
                                                  .reads_last = plan->slots->reads_loss == PACE_LOSS_READ_LAST,
                                                  .copies = copies,
                                                  .copy_s = copies > 0 ? plan->input_s / copies : 0,
                                                  .copy_host_s = copies > 0 && !graph ? plan->input_host_s / copies : 0,
                                                  .add = issued(plan->accumulate_host_s, plan->accumulate_s),
                                                  .fill = issued(plan->gradient_host_s, plan->gradient_cover_s),
                                                  .end = issued(host_s - gathers_s, device_s + plan->update_s),
                                                  .hull = &plan->slots->hull,
                                                  .gradients_s = plan->gradient_s + plan->expert_gradient_s,
                                                  .starts_s = plan->gradient_starts_s,
                                                  .last_s = plan->last_bucket_s});
}
