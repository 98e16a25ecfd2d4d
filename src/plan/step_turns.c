#include "plan/step_turns.h"

#include "model/pipeline_stages.h"
#include "plan/turn_walk.h"

#include <math.h>

static void take_times(pace_turn_times *out, const pace_turn_work *w, bool back) {
    double device_s = w->products_s + w->others_s + w->data_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) device_s += w->group_s[g];
    int pass = back ? PACE_TURN_BACKWARD : PACE_TURN_FORWARD;
    out->device_s[pass] = device_s;
    out->host_s[pass] = w->host_s;
    out->idle_s[pass] = w->idle_s;
    if (!back) return;
    out->device_s[PACE_TURN_WEIGHTS] = w->weights_s;
    out->device_s[PACE_TURN_INPUTS] = device_s - w->weights_s;
    out->host_s[PACE_TURN_WEIGHTS] = w->weights_host_s;
    out->host_s[PACE_TURN_INPUTS] = w->host_s - w->weights_host_s;
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
        if (copies && graph) out->end_device_s += plan->micro_batches * share[end] * plan->input_s;
        if (copies && graph) out->end_host_s += plan->micro_batches * host_share[end] * plan->input_host_s;
    }
}

/* Gradients are added as they are formed; what else comes beside the passes stands at the step's end, but for inputs. `part`: of
 * what the fullest stage has to add and to update. */
static void take_rest(pace_turn_times *out, const pace_step_plan *plan, double part, double update_s) {
    double m = plan->micro_batches, chunks = plan->config.vpp;
    double device_s = plan->rest_s - m * plan->input_s - (m - 1) * plan->accumulate_s + update_s;
    double host_s = plan->rest_host_s - m * plan->input_host_s - (m - 1) * plan->accumulate_host_s;
    out->add_device_s = part * plan->accumulate_s / chunks;
    out->add_host_s = part * plan->accumulate_host_s / chunks;
    out->end_device_s = part * device_s;
    out->end_host_s = part * host_s;
}

static pace_status walk_turns(double *out_s, const pace_step_plan *plan, const pace_step_time *t) {
    const pace_pipeline shape = pace_config_pipeline(&plan->config);
    pace_turn_times *stages = pace_alloc(shape.stages, sizeof *stages);
    if (!stages) return PACE_E_MEMORY;
    double message_s = 0;
    for (uint32_t s = 0; s < shape.stages; s++) {
        pace_stage_turns turns = pace_step_turns(plan, s);
        take_times(&stages[s], &turns.forward, false);
        take_times(&stages[s], &turns.backward, true);
        take_rest(&stages[s], plan, pace_step_stage_part(plan, s), t->update_s);
        take_input(&stages[s], plan, &shape, s);
        stages[s].end_device_s += turns.gradients_s;
        stages[s].ends_together = plan->tied_s > 0 && (s == 0 || s + 1 == shape.stages);
        message_s = turns.message_s;
    }
    pace_status status = pace_turns_period(out_s, &shape, stages, message_s);
    pace_free(stages);
    return status;
}

pace_status pace_step_turns_s(double *out_s, const pace_step_plan *plan) {
    enum { FEW = 1024 };
    const pace_config *config = &plan->config;
    pace_step_factors none = pace_step_factors_none();
    double turns = plan->micro_batches * config->vpp * config->pp, period_s;
    *out_s = 0;
    if (!pace_framework_is_lowered(plan->framework) || config->mode != PACE_TRAINING) return PACE_OK;
    if (config->pp == 1 ? plan->slots->turns == 0 : turns > FEW) return PACE_OK;
    pace_step_time t = pace_step_compose(plan, &none);
    if (config->pp == 1) period_s = pace_step_alone_s(plan);
    else PACE_TRY(walk_turns(&period_s, plan, &t));
    *out_s = period_s - (t.total_s - t.other_s);
    return PACE_OK;
}
