#include "plan/step_least.h"

#include "model/pipeline_stages.h"

#include <math.h>

/* Of one micro-batch over some layers: kernels and exposed exchanges, without what ZeRO gathers; the host's time. */
typedef struct {
    double forward_s, backward_s;
    double inputs_s; /* of backward, if gradients of weights come in a turn of their own: the rest */
    double host_s;
} least_work;

static void add(least_work *into, least_work one, double times) {
    into->forward_s += times * one.forward_s;
    into->backward_s += times * one.backward_s;
    into->inputs_s += times * one.inputs_s;
    into->host_s += times * one.host_s;
}

static double both_s(least_work w) { return w.forward_s + w.backward_s; }

static least_work work_of(const pace_step_plan *plan, const pace_slot_part *part) {
    const pace_step_factors none = pace_step_factors_none();
    const pace_slot *backward = &part->pass[PACE_PART_BACKWARD];
    least_work work = {0};
    for (int pass = 0; pass < PACE_PART_PASSES; pass++) {
        if (pass != PACE_PART_FORWARD && plan->config.mode != PACE_TRAINING) continue;
        pace_passes w = pace_slot_passes_of(plan, &none, &part->pass[pass]);
        double device_s =
            w.compute_s + w.group_s[PACE_SLOT_TENSOR] + w.group_s[PACE_SLOT_CONTEXT] + w.group_s[PACE_SLOT_EXPERT];
        double share = pass == PACE_PART_RECOMPUTE ? pace_step_again_share(plan) : 1;
        *(pass == PACE_PART_FORWARD ? &work.forward_s : &work.backward_s) += share * device_s;
        work.host_s += share * w.hosts_s;
    }
    work.inputs_s = work.backward_s - (backward->weights_s > 0 ? backward->weights_s : backward->matrix_s / 2);
    return work;
}

/* Of all parts; and for turns, where in the model its tails are. */
typedef struct {
    least_work part[PACE_SLOT_PARTS], head, tail, layer;
    uint32_t tail_part[PACE_SLOT_PARTS];
} least_parts;

static void find_parts(least_parts *out, const pace_step_plan *plan) {
    out->head = out->tail = out->layer = (least_work){0};
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        out->part[i] = work_of(plan, part);
        if (part->part.place == PACE_PART_LAYER) add(&out->layer, out->part[i], part->part.turns / plan->slots->layers);
        else add(part->part.place == PACE_PART_HEAD ? &out->head : &out->tail, out->part[i], 1);
    }
}

static void place_tails(least_parts *out, const pace_step_plan *plan) {
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_model_part *part = &plan->slots->parts[i].part;
        if (part->place == PACE_PART_TAIL) out->tail_part[i] = pace_step_tail_part(plan, part);
    }
}

/* The slowest stage takes no less than their mean, and where all kinds of layers are spread evenly than the fullest;
 * but where turns are gone through filling and draining adds what formulas say. */
static double of_means_s(const pace_step_plan *plan, const least_parts *parts, bool fills) {
    double layer_s = both_s(parts->layer), head_s = both_s(parts->head), tail_s = both_s(parts->tail);
    double all_s = plan->slots->layers * layer_s + head_s + tail_s, slowest_s = all_s / plan->config.pp;
    if (!pace_framework_is_lowered(plan->framework))
        slowest_s = fmax(slowest_s, fmax(plan->layers_first * layer_s + head_s, plan->layers_most * layer_s));
    double step_s = plan->micro_batches * slowest_s;
    if (fills && plan->config.schedule == PACE_SCHEDULE_1F1B) step_s += (all_s - slowest_s) / plan->config.vpp;
    return step_s;
}

/* The layers of a part of the model, one by one, and the ends that belong to it. */
static least_work work_of_part(const pace_step_plan *plan, const least_parts *parts, uint32_t part) {
    const pace_step_slots *slots = plan->slots;
    least_work sum = {0};
    double first = pace_layers_before(&plan->cut, slots->layers, part),
           end = first + pace_part_layers(&plan->cut, slots->layers, part);
    for (unsigned layer = (unsigned)first; layer < end && layer < slots->turns; layer++)
        add(&sum, parts->part[slots->turn[layer]], 1);
    if (part == 0) add(&sum, parts->head, 1);
    for (unsigned i = 0; i < slots->count; i++)
        if (slots->parts[i].part.place == PACE_PART_TAIL && parts->tail_part[i] == part) add(&sum, parts->part[i], 1);
    return sum;
}

/* Turns of one part of the model, and what stages do in all. */
typedef struct {
    const pace_step_plan *plan;
    const least_parts *parts;
    bool splits; /* some backward passes do not wait for gradients of weights */
} least_turns;

static double turns_s(const least_turns *of, least_work w) { return of->splits ? w.forward_s + w.inputs_s : both_s(w); }

static least_work work_of_stage(const least_turns *of, uint32_t stage) {
    const pace_pipeline *cut = &of->plan->cut;
    least_work all = {0};
    for (uint32_t chunk = 0; chunk < cut->chunks; chunk++)
        add(&all, work_of_part(of->plan, of->parts, pace_pipeline_part(cut, stage, chunk)), 1);
    return all;
}

/* Turns that wait for each other: the first micro-batch's forward passes up to a part of the model, all passes over
 * this part, and the last micro-batch's backward passes down to the first part, whose stage then begins the next step.
 * Over its first part a stage makes its first turn and, but for gradients of weights, its last. */
static double of_turns_s(const least_turns *of) {
    const pace_pipeline *cut = &of->plan->cut;
    const double m = of->plan->micro_batches;
    double before_s = 0, least_s = 0;
    for (uint32_t part = 0; part < cut->stages * cut->chunks; part++) {
        least_work own = work_of_part(of->plan, of->parts, part);
        if (part < cut->stages) {
            least_work all = work_of_stage(of, part);
            least_s = fmax(least_s, fmax(before_s + m * turns_s(of, all), m * fmax(both_s(all), all.host_s)));
        }
        least_s = fmax(least_s, before_s + m * turns_s(of, own));
        before_s += turns_s(of, own);
    }
    return least_s;
}

double pace_step_least_s(const pace_step_plan *plan) {
    least_parts parts;
    find_parts(&parts, plan);
    const int schedule = plan->config.schedule;
    bool splits = pace_schedule_splits(schedule) || pace_schedule_is_v(schedule); /* dualpipe-v where it drains */
    const least_turns turns = {plan, &parts, plan->config.pp > 1 && splits};
    bool through = pace_step_goes_through(plan);
    if (!through || plan->slots->turns == 0) return of_means_s(plan, &parts, !through);
    place_tails(&parts, plan);
    return of_turns_s(&turns);
}

double pace_step_peak_s(const pace_step_plan *plan) {
    double all_s = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_slot_part *part = &plan->slots->parts[i];
        double times = part->part.place == PACE_PART_LAYER ? part->part.turns : 1;
        all_s += times * (part->pass[PACE_PART_FORWARD].least_s + part->pass[PACE_PART_BACKWARD].least_s);
    }
    return plan->micro_batches * all_s / plan->config.pp; /* the slowest stage takes no less than their mean */
}
