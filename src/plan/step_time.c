#include "plan/step_time.h"
#include "base/numbers.h"

#include "plan/two_clocks.h"

pace_step_factors pace_step_factors_none(void) { return (pace_step_factors){1, 1, 1, 1, 1, 1, 1, 1, 1}; }

static bool is_lowered(const pace_step_plan *plan) { return pace_framework_is_lowered(plan->framework); }

/* All passes of one micro-batch, in their order, of a stage that is alone: of the first, of the later ones, which add
 * their gradients, and of the last, whose gradients go into buckets. `around`: from one loss that is read before
 * backward to the next, with one micro-batch. */
typedef struct {
    pace_clocks forward, first, later, last, around;
} pass_clocks;

static pass_clocks clocks_of(const pace_step_plan *plan, const pace_step_factors *f) {
    if (!is_lowered(plan) || plan->config.pp > 1) return (pass_clocks){0};
    pace_model_passes ahead = pace_model_passes_of(plan, f, PACE_PART_FORWARD, PACE_PART_FORWARD);
    pace_model_passes back = pace_model_passes_of(plan, f, PACE_PART_RECOMPUTE, PACE_PART_BACKWARD);
    pace_clocks forward = pace_stage_passes_of(plan, f, &ahead, 0).clocks;
    pace_clocks backward = pace_stage_passes_of(plan, f, &back, 0).clocks;
    pace_clocks adds = pace_clocks_with(backward, f->launch * plan->accumulate_host_s, plan->accumulate_s);
    pace_clocks last = pace_clocks_with(adds, f->launch * plan->gradient_host_s, plan->gradient_cover_s);
    pace_clocks rest = {f->launch * (plan->rest_host_s - plan->gradient_host_s),
                        plan->rest_s - plan->gradient_cover_s + f->update * plan->update_s, 0};
    rest.idle_s = pace_most(rest.host_s, rest.device_s);
    return (pass_clocks){forward, pace_clocks_then(forward, backward), pace_clocks_then(forward, adds),
                         pace_clocks_then(forward, last), pace_clocks_then(pace_clocks_then(last, rest), forward)};
}

/* Of stages in the middle, which may differ where a model has several kinds of layers, the slowest. */
static pace_passes slowest_between(const pace_step_plan *plan, const pace_step_factors *f, const pace_model_passes *w) {
    pace_passes slowest = {0};
    bool alike = !is_lowered(plan) || plan->slots->count <= 3;
    double last = plan->config.pp - 2;
    if (alike) return pace_stage_passes_of(plan, f, w, plan->fullest);
    for (double stage = 1; stage <= last; stage++) {
        pace_passes one = pace_stage_passes_of(plan, f, w, stage);
        if (pace_passes_s(&one) > pace_passes_s(&slowest)) slowest = one;
    }
    return slowest;
}

typedef struct {
    pace_passes slowest; /* of one micro-batch */
    double slowest_s, all_s, weights_s, backward_s;
    double put_off_s; /* zero-bubble: gradients of weights that the slowest stage forms while the others drain */
} pipeline;

static pipeline stages_of(const pace_step_plan *plan, const pace_step_factors *f) {
    pace_model_passes w = pace_model_passes_of(plan, f, PACE_PART_FORWARD, PACE_PART_BACKWARD);
    double pp = plan->config.pp;
    pipeline p = {.all_s =
                      pace_passes_s(&w.head) + pace_passes_s(&w.tail) + plan->slots->layers * pace_passes_s(&w.layer),
                  .weights_s = w.head.weights_s + w.tail.weights_s + plan->slots->layers * w.layer.weights_s,
                  .backward_s = w.head.backward_s + w.tail.backward_s + plan->slots->layers * w.layer.backward_s};
    p.slowest = pace_stage_passes_of(plan, f, &w, 0);
    if (pp > 1) {
        pace_passes first = p.slowest, last = pace_stage_passes_of(plan, f, &w, pp - 1), middle = {0};
        if (pp > 2) middle = slowest_between(plan, f, &w);
        p.slowest = pace_passes_s(&first) > pace_passes_s(&last) ? first : last;
        bool is_last =
            !(pace_passes_s(&first) > pace_passes_s(&last)) && !(pace_passes_s(&middle) > pace_passes_s(&last));
        if (pace_passes_s(&middle) > pace_passes_s(&p.slowest)) p.slowest = middle;
        p.put_off_s = is_last ? pp * last.weights_s - first.weights_s : p.weights_s - p.slowest.weights_s;
    }
    p.slowest_s = pace_passes_s(&p.slowest);
    return p;
}

/* What filling and draining adds to the slowest stage's work (Narayanan et al. 2021, sections 2.2.1 and 2.2.2). */
static double bubble_s(double all_s, double most_s, double chunks) { return (all_s - most_s) / chunks; }

/* What the others take: of a zero-bubble order gradients of weights are formed in the bubble, and those of inputs do
 * not wait for them (Qi et al. 2023, table 2). On a V stages turn round by themselves: half as much is left of pairs
 * (DeepSeek-AI's DualPipe, pairs one after the other), and of zb-v what its passes are unlike. */
static double bubble_of(const pace_step_plan *plan, const pipeline *p) {
    double plain_s = bubble_s(p->all_s, p->slowest_s, plan->config.vpp);
    double weights_s = p->weights_s - p->slowest.weights_s, backward_s = p->backward_s - p->slowest.backward_s;
    double inputs_s = backward_s - weights_s, forward_s = p->all_s - p->slowest_s - backward_s;
    switch (plan->config.schedule) {
    case PACE_SCHEDULE_ZERO_BUBBLE: return pace_most(0, plain_s - (weights_s + p->put_off_s) / plan->config.vpp);
    case PACE_SCHEDULE_ZB_V: return pace_most(0, pace_most(forward_s, inputs_s) - weights_s);
    case PACE_SCHEDULE_DUALPIPE_V: return pace_most(0, (forward_s + inputs_s - weights_s) / 2);
    default: return plain_s;
    }
}

/* What is left of an exchange behind passes of the last micro-batch. In an interleaved order the last micro-batches of
 * all stages pass one chunk after the other (Narayanan et al. 2021, section 2.2.2): what a chunk exchanges hides behind
 * those that follow it, and the part of the last one behind its own passes. Buckets of lowered frameworks go with the
 * last micro-batch. */
static double left_behind_s(const pace_step_plan *plan, const pace_step_factors *f, double alone_s, double cover_s) {
    double chunks = plan->config.vpp, overlap = plan->framework->overlap_gradients;
    double left_s = pace_exchange_left_s(alone_s, overlap, f->hidden, cover_s);
    if (is_lowered(plan) || plan->config.schedule != PACE_SCHEDULE_1F1B) return left_s;
    double turns = (chunks - 1) * plan->config.pp + 1;
    return pace_most(pace_exchange_left_s(alone_s, overlap, f->hidden, cover_s * turns / chunks), left_s / chunks);
}

/* Gradients that are all-reduced hide behind the last micro-batch's backward, which takes `backward_s`; parameters that
 * are gathered behind the next step's forward too. */
static double gradients_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_passes *slowest,
                          double backward_s) {
    bool both = plan->config.zero_stage > 0 && !is_lowered(plan);
    double cover_s = both ? pace_most(pace_passes_s(slowest), slowest->issue_s) : backward_s;
    double alone_s = pace_factor_of(f, plan->gradient_across) * plan->gradient_s +
                     pace_factor_of(f, plan->expert_across) * plan->expert_gradient_s;
    double last_s = pace_factor_of(f, plan->gradient_across) * plan->last_bucket_s;
    if (is_lowered(plan) && plan->config.pp == 1 && plan->config.zero_stage < 3)
        return pace_most(pace_gradient_hull_behind_s(&plan->slots->hull, alone_s,
                                                     pace_factor_of(f, plan->gradient_across) * plan->gradient_starts_s,
                                                     backward_s),
                         last_s);
    return pace_most(left_behind_s(plan, f, alone_s, cover_s), last_s);
}

/* ZeRO 2 sums the gradients of each micro-batch behind its backward pass; the last one's count with the step's. */
static double early_gradients_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_passes *slowest) {
    if (is_lowered(plan) || plan->config.zero_stage != 2) return 0;
    double alone_s = pace_factor_of(f, plan->gradient_across) * plan->reduced_s;
    return (plan->micro_batches - 1) *
           pace_exchange_left_s(alone_s, plan->framework->overlap_gradients, f->hidden, slowest->backward_s);
}

/* Whether the host waits until each micro-batch is copied in, and so starts it without a lead. */
static bool waits_for_input(const pace_step_plan *plan) { return plan->input_s > 0 && plan->config.pp == 1; }

/* An eager host runs ahead of the device while the device updates, so backward takes what its kernels take unless the
 * host holds up the whole step, or starts each micro-batch without a lead and is late by its end. */
static double exposed_gradients_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_passes *slowest,
                                  const pass_clocks *clocks, double device_s, double host_s) {
    double own_s = slowest->backward_s + plan->gradient_cover_s;
    if (waits_for_input(plan)) own_s = pace_most(own_s, clocks->last.idle_s - clocks->forward.idle_s);
    double left_s = gradients_s(plan, f, slowest, own_s);
    if (!is_lowered(plan)) return gradients_s(plan, f, slowest, pace_most(own_s, slowest->backward_issue_s));
    if (device_s + left_s >= host_s) return left_s;
    return gradients_s(plan, f, slowest, pace_most(own_s, slowest->backward_issue_s));
}

/* Parameters come block by block beside the forward pass of the first micro-batch. */
static double exposed_gathers_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_passes *slowest) {
    double left_s =
        pace_factor_of(f, plan->gradient_across) * plan->gathered_s - (pace_passes_s(slowest) - slowest->backward_s);
    return pace_most(pace_factor_of(f, plan->gradient_across) * plan->gather_first_s, left_s);
}

/* A loss that is read before backward finds the device idle in each step; else a batch's copy does. */
static bool drains_at_loss(const pace_step_plan *plan) {
    return plan->slots->reads_loss == PACE_LOSS_READ_FIRST && !waits_for_input(plan) && plan->micro_batches == 1 &&
           plan->config.pp == 1;
}

static double late_by(pace_clocks clocks) { return pace_most(0, clocks.idle_s - clocks.device_s); }

/* What the host of a step is late by: it does not wait for the gradients' exchange. A host that reads the loss begins
 * each step with the device, and so is not ahead when backward, which it may issue slowly, has ended. One that waits
 * for each micro-batch that is copied in gains no lead from one to the next: the device is idle while the host issues
 * copies, and it may be late within each micro-batch; behind the last it may be late in what follows, too. A graph is
 * launched behind the copies of all. */
static double host_late_s(const pace_step_plan *plan, const pace_step_factors *f, const pace_step_time *t,
                          const pass_clocks *clocks, double device_s, double host_s) {
    double m = plan->micro_batches, late_s = host_s - device_s - t->data_s - t->bubble_s - t->pipeline_s;
    if (plan->slots->reads_loss == PACE_LOSS_READ_LAST)
        late_s += pace_most(0, t->update_s - f->launch * plan->update_host_s);
    if (drains_at_loss(plan)) late_s = pace_most(late_s, late_by(clocks->around));
    if (!waits_for_input(plan)) return pace_most(0, late_s);
    if (plan->config.execution == PACE_CUDA_GRAPH) return m * plan->input_host_s + plan->replay_s;
    double first = m > 1 ? 1 : 0, later = m > 2 ? m - 2 : 0;
    double before_s = first * late_by(clocks->first) + later * late_by(clocks->later);
    late_s -= first * (clocks->first.host_s - clocks->first.device_s) +
              later * (clocks->later.host_s - clocks->later.device_s) + m * (plan->input_host_s - plan->input_s);
    return m * plan->input_host_s + before_s + pace_most(late_by(clocks->last), late_s);
}

/* What is less than formulas thought, the host is less late, less of exchanges is exposed, and copies of input, which
 * formulas add to the slowest stage, hide behind it. */
static void add_turns(pace_step_time *t, const pace_step_plan *plan) {
    double *late_s = plan->config.pp > 1 ? &t->bubble_s : &t->host_s,
           *less_s[] = {&t->host_s, &t->data_s, &t->compute_s};
    *late_s += plan->turns_s;
    for (size_t i = 0; i < PACE_COUNT(less_s) && *late_s < 0; i++) {
        double taken_s = fmin(-*late_s, pace_most(0, *less_s[i]));
        if (less_s[i] != late_s) *less_s[i] -= taken_s, *late_s += taken_s;
    }
    *late_s = pace_most(0, *late_s);
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
        double pass_s = pace_factor_of(f, plan->pass_across) * plan->pass_s, ways = trains ? 2 : 1;
        t.bubble_s = bubble_of(plan, &p);
        /* fill and drain wait for each message; between, each chunk of a micro-batch sends and receives */
        t.pipeline_s =
            ways * (pp - 1) * pass_s +
            ways * m * vpp * pace_exchange_left_s(pass_s, framework->overlap_pipeline, f->hidden, p.slowest_s);
    }
    if (trains) t.update_s = f->update * plan->update_s;
    double device_s = m * p.slowest_s + plan->rest_s + t.update_s;
    double host_s = m * p.slowest.issue_s + f->launch * plan->rest_host_s;
    if (trains && plan->config.zero_stage < 3)
        t.data_s += exposed_gradients_s(plan, f, &p.slowest, &clocks, device_s, host_s) +
                    early_gradients_s(plan, f, &p.slowest);
    t.data_s += exposed_gathers_s(plan, f, &p.slowest);
    if (trains) t.data_s += pace_factor_of(f, plan->pass_across) * plan->tied_s;
    if (is_lowered(plan)) {
        t.compute_s += plan->rest_s + f->stream * plan->unpacked_s;
        t.host_s = host_late_s(plan, f, &t, &clocks, device_s, host_s);
    } else if (framework->update_launches > 0) {
        t.host_s += pace_most(0, f->launch * plan->update_host_s - t.update_s); /* begun when backward has ended */
    }
    add_turns(&t, plan);
    t.other_s = f->step * framework->step_s;
    t.total_s = t.compute_s + t.host_s + t.tensor_s + t.context_s + t.expert_s + t.pipeline_s + t.data_s + t.bubble_s +
                t.update_s + t.other_s;
    return t;
}

/* --- one turn of a stage ------------------------------------------------------------------------------------------ */

static pace_turn_work turn_of(const pace_step_plan *plan, double stage, double chunk, pace_part_pass from,
                              pace_part_pass to) {
    pace_step_factors none = pace_step_factors_none();
    pace_model_passes model = pace_model_passes_of(plan, &none, from, to);
    pace_passes all = pace_chunk_passes_of(plan, &none, &model, stage, chunk);
    pace_turn_work turn = {.products_s = all.products_s,
                           .others_s = all.compute_s - all.products_s,
                           .weights_s = all.weights_s,
                           .host_s = all.hosts_s,
                           .weights_host_s = all.weights_host_s,
                           .launches = all.launches,
                           .weights_launches = all.weights_launches,
                           .idle_s = all.clocks.idle_s,
                           .hides = all.hides,
                           .waits_s = all.waits_s,
                           .leaves_s = {all.leaves_s[PACE_HOST_AHEAD], all.leaves_s[PACE_HOST_BESIDE]},
                           .ahead_s = {all.ahead_s[PACE_HOST_AHEAD], all.ahead_s[PACE_HOST_BESIDE]},
                           .data_s = all.data_s};
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) turn.group_s[g] = all.group_s[g];
    return turn;
}

pace_chunk_turns pace_step_turns(const pace_step_plan *plan, double stage, double chunk) {
    return (pace_chunk_turns){turn_of(plan, stage, chunk, PACE_PART_FORWARD, PACE_PART_FORWARD),
                              turn_of(plan, stage, chunk, PACE_PART_RECOMPUTE, PACE_PART_BACKWARD)};
}

pace_beside_turns pace_step_beside_turns(const pace_step_plan *plan) {
    pace_step_factors none = pace_step_factors_none();
    pipeline p = stages_of(plan, &none);
    pace_step_time t = pace_step_compose(plan, &none);
    return (pace_beside_turns){.message_s = pace_exchange_left_s(plan->pass_s, plan->framework->overlap_pipeline, 1,
                                                                 p.slowest_s),
                               .gradients_s = pace_most(0, t.data_s - plan->micro_batches * p.slowest.data_s),
                               .update_s = t.update_s,
                               .other_s = t.other_s};
}
