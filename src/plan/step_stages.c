/* Which layers the stages of a step hold, and how many parameters. */
#include "base/order.h"
#include "model/pipeline_stages.h"
#include "plan/step_plan.h"

#include <math.h>

/* Of unlike stages (pace_unlike_stages()) it is known: most questions are about these. */
double pace_step_layers_of(const pace_step_plan *plan, double stage) {
    if (stage == 0) return plan->layers_first;
    if (stage == plan->fullest) return plan->layers_most;
    if (stage == plan->config.pp - 1) return plan->layers_last;
    return pace_held_layers(&plan->cut, plan->slots->layers, (uint32_t)stage);
}

uint32_t pace_step_tail_part(const pace_step_plan *plan, const pace_model_part *tail) {
    const double layers = plan->slots->layers;
    uint32_t last = (uint32_t)(plan->config.pp * plan->config.vpp) - 1, part = 0;
    bool between = tail->behind > 0 && tail->behind < layers && pace_framework_is_lowered(plan->framework);
    if (!between) return last;
    PACE_SEARCH(part, last, at, pace_layers_before(&plan->cut, layers, at + 1) < tail->behind);
    return part;
}

double pace_step_tail_stage(const pace_step_plan *plan, const pace_model_part *tail) {
    return pace_pipeline_stage(&plan->cut, pace_step_tail_part(plan, tail));
}

/* Of the stages in the middle the first with most layers, which is the second but of uneven chunks. */
static void find_fullest(pace_step_plan *plan) {
    bool alike = fmod(plan->slots->layers, plan->config.pp * plan->config.vpp) == 0 || plan->config.vpp == 1;
    plan->fullest = plan->config.pp > 2;
    plan->layers_most = pace_held_layers(&plan->cut, plan->slots->layers, (uint32_t)plan->fullest);
    for (uint32_t stage = 2; !alike && stage + 1 < plan->cut.stages; stage++) {
        double layers = pace_held_layers(&plan->cut, plan->slots->layers, stage);
        if (layers > plan->layers_most) plan->fullest = stage, plan->layers_most = layers;
    }
}

pace_status pace_step_stages_cut(pace_step_plan *plan) {
    plan->cut = pace_config_pipeline(&plan->config);
    PACE_TRY(pace_pipeline_check(&plan->cut));
    PACE_TRY(pace_stages_check(plan->slots->layers, plan->config.pp, plan->config.vpp));
    plan->layers_first = pace_held_layers(&plan->cut, plan->slots->layers, 0);
    plan->layers_last = pace_held_layers(&plan->cut, plan->slots->layers, plan->cut.stages - 1);
    find_fullest(plan);
    return PACE_OK;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

pace_share pace_part_share(const pace_slot_part *part) {
    const pace_model_part *of = &part->part;
    return (pace_share){of->parameters, of->expert_parameters,  of->trained_parameters, of->trained_expert_parameters,
                        of->tensors,    of->put_off_parameters, of->put_off_tensors};
}

void pace_share_add(pace_share *into, pace_share one, double times) {
    into->dense += times * one.dense;
    into->expert += times * one.expert;
    into->trained += times * one.trained;
    into->trained_expert += times * one.trained_expert;
    into->tensors += times * one.tensors;
    into->put_off += times * one.put_off;
    into->put_off_tensors += times * one.put_off_tensors;
}

pace_share pace_share_trained(pace_share held) {
    return (pace_share){.dense = held.trained, .expert = held.trained_expert};
}

pace_share pace_layer_share(const pace_step_slots *slots) {
    pace_share sum = {0};
    for (unsigned i = 0; i < slots->count; i++) {
        double turns = slots->parts[i].part.turns / slots->layers;
        if (slots->parts[i].part.place == PACE_PART_LAYER)
            pace_share_add(&sum, pace_part_share(&slots->parts[i]), turns);
    }
    return sum;
}

pace_share pace_place_share(const pace_step_slots *slots, pace_part_place place) {
    pace_share sum = {0};
    for (unsigned i = 0; i < slots->count; i++)
        if (slots->parts[i].part.place == place) pace_share_add(&sum, pace_part_share(&slots->parts[i]), 1);
    return sum;
}

bool pace_stage_has_head(double stage) { return stage == 0; }
static bool is_v(const pace_step_plan *plan) { return pace_schedule_is_v(plan->config.schedule); }
bool pace_stage_has_tail(const pace_step_plan *plan, double stage) {
    return stage == (is_v(plan) ? 0 : plan->config.pp - 1);
}

unsigned pace_unlike_stages(double out[PACE_UNLIKE_STAGES], const pace_step_plan *plan) {
    double pp = plan->config.pp;
    out[0] = 0, out[1] = pp > 2 ? plan->fullest : pp - 1, out[2] = pp - 1;
    return (unsigned)fmin(pp, PACE_UNLIKE_STAGES);
}

static pace_share tail_share(const pace_step_plan *plan, double stage, double part) {
    pace_share sum = {0};
    for (unsigned i = 0; i < plan->slots->count; i++) {
        const pace_model_part *tail = &plan->slots->parts[i].part;
        bool own = part < 0 ? pace_step_tail_stage(plan, tail) == stage : pace_step_tail_part(plan, tail) == part;
        if (own && tail->place == PACE_PART_TAIL) pace_share_add(&sum, pace_part_share(&plan->slots->parts[i]), 1);
    }
    return sum;
}

pace_share pace_tied_share(const pace_step_plan *plan) {
    double tied = plan->config.pp > 1 && !is_v(plan) ? plan->slots->tied_parameters : 0;
    return (pace_share){.dense = tied, .trained = pace_config_trains_all(&plan->config) ? tied : 0};
}

/* Whether layers of several kinds are known one by one, and a framework cuts them as src/model does. */
static bool has_kinds(const pace_step_plan *plan) {
    unsigned kinds = 0;
    for (unsigned i = 0; i < plan->slots->count; i++) kinds += plan->slots->parts[i].part.place == PACE_PART_LAYER;
    return kinds > 1 && plan->slots->turns > 0 && pace_framework_is_lowered(plan->framework);
}

static void add_layers(pace_share *sum, const pace_step_plan *plan, uint32_t part) {
    const pace_step_slots *slots = plan->slots;
    unsigned layer = (unsigned)pace_layers_before(&plan->cut, slots->layers, part);
    unsigned end = (unsigned)pace_layers_before(&plan->cut, slots->layers, part + 1);
    for (; layer < end; layer++) pace_share_add(sum, pace_part_share(&slots->parts[slots->turn[layer]]), 1);
}

/* Layers of a stage, or of a part of the model, one by one. */
static pace_share layers_one_by_one(const pace_step_plan *plan, double stage, double part) {
    pace_share sum = {0};
    if (part != PACE_WHOLE_STAGE) add_layers(&sum, plan, (uint32_t)part);
    for (uint32_t chunk = 0; part == PACE_WHOLE_STAGE && chunk < plan->cut.chunks; chunk++)
        add_layers(&sum, plan, pace_pipeline_part(&plan->cut, (uint32_t)stage, chunk));
    return sum;
}

static pace_share mean_layers(const pace_step_plan *plan, double stage, double part) {
    double layers = part == PACE_WHOLE_STAGE ? pace_step_layers_of(plan, stage)
                                             : pace_part_layers(&plan->cut, plan->slots->layers, (uint32_t)part);
    pace_share sum = {0};
    pace_share_add(&sum, pace_layer_share(plan->slots), layers);
    return sum;
}

pace_share pace_stage_share(const pace_step_plan *plan, double stage, double part) {
    bool whole = part == PACE_WHOLE_STAGE, first = whole ? pace_stage_has_head(stage) : part == 0;
    bool last = whole ? pace_stage_has_tail(plan, stage) : part == plan->config.pp * plan->config.vpp - 1;
    pace_share sum = has_kinds(plan) ? layers_one_by_one(plan, stage, part) : mean_layers(plan, stage, part);
    if (first) pace_share_add(&sum, pace_place_share(plan->slots, PACE_PART_HEAD), 1);
    pace_share_add(&sum, tail_share(plan, stage, part), 1);
    if (last) pace_share_add(&sum, pace_tied_share(plan), 1);
    return sum;
}

pace_share pace_fullest_share(const pace_step_plan *plan) {
    pace_share most = {0};
    double stages[PACE_UNLIKE_STAGES];
    bool all = has_kinds(plan);
    unsigned count = all ? (unsigned)plan->config.pp : pace_unlike_stages(stages, plan);
    for (unsigned i = 0; i < count; i++) {
        pace_share one = pace_stage_share(plan, all ? i : stages[i], PACE_WHOLE_STAGE);
        most.dense = fmax(most.dense, one.dense);
        most.expert = fmax(most.expert, one.expert);
        most.trained = fmax(most.trained, one.trained);
        most.trained_expert = fmax(most.trained_expert, one.trained_expert);
    }
    return most;
}

static double part_of_fullest(const pace_step_plan *plan, double stage, double part) {
    pace_share own = pace_share_trained(pace_stage_share(plan, stage, part)), most = pace_share_trained(plan->most);
    double all = most.dense + most.expert;
    return all > 0 ? (own.dense + own.expert) / all : 1;
}

double pace_step_stage_part(const pace_step_plan *plan, double stage) {
    return part_of_fullest(plan, stage, PACE_WHOLE_STAGE);
}

double pace_step_chunk_part(const pace_step_plan *plan, double stage, double chunk) {
    return part_of_fullest(plan, stage, pace_pipeline_part(&plan->cut, (uint32_t)stage, (uint32_t)chunk));
}

static double tensors_of_all(const pace_step_plan *plan) {
    return plan->slots->layers * pace_layer_share(plan->slots).tensors +
           pace_place_share(plan->slots, PACE_PART_HEAD).tensors +
           pace_place_share(plan->slots, PACE_PART_TAIL).tensors;
}

/* Of the host's time for all, which plans count by the fullest stage's share of parameters. */
static double host_part(const pace_step_plan *plan, double stage, double part) {
    pace_share most = pace_share_trained(plan->most);
    double tensors = tensors_of_all(plan), fullest = (most.dense + most.expert) / plan->slots->trained_parameters;
    if (!(tensors > 0) || !(fullest > 0)) return part_of_fullest(plan, stage, part);
    return pace_stage_share(plan, stage, part).tensors / tensors / fullest;
}

double pace_step_stage_tensors_part(const pace_step_plan *plan, double stage) {
    double tensors = tensors_of_all(plan);
    return tensors > 0 ? pace_stage_share(plan, stage, PACE_WHOLE_STAGE).tensors / tensors : 1;
}

double pace_step_stage_host_part(const pace_step_plan *plan, double stage) {
    return host_part(plan, stage, PACE_WHOLE_STAGE);
}

double pace_step_chunk_put_off(const pace_step_plan *plan, double stage, double chunk, double by_tensors) {
    pace_share held = pace_stage_share(plan, stage, pace_pipeline_part(&plan->cut, (uint32_t)stage, (uint32_t)chunk));
    double parameters = held.dense + held.expert;
    double of_parameters = parameters > 0 ? held.put_off / parameters : 0;
    double of_tensors = held.tensors > 0 ? held.put_off_tensors / held.tensors : 0;
    return by_tensors * of_tensors + (1 - by_tensors) * of_parameters;
}

double pace_step_chunk_host_part(const pace_step_plan *plan, double stage, double chunk) {
    return host_part(plan, stage, pace_pipeline_part(&plan->cut, (uint32_t)stage, (uint32_t)chunk));
}

double pace_step_chunk_tensors(const pace_step_plan *plan, double stage, double chunk) {
    return pace_stage_share(plan, stage, pace_pipeline_part(&plan->cut, (uint32_t)stage, (uint32_t)chunk)).tensors;
}
