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

/* A captured step has its batch before it begins. */
static void take_input(pace_turn_times *out, const pace_step_plan *plan) {
    if (plan->config.execution == PACE_CUDA_GRAPH) return;
    out->input_device_s = plan->input_s;
    out->input_host_s = plan->input_host_s;
    out->end_device_s -= plan->micro_batches * plan->input_s;
    out->end_host_s -= plan->micro_batches * plan->input_host_s;
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
        stages[s].end_device_s = turns.gradients_s + t->update_s + plan->rest_s;
        stages[s].end_host_s = plan->rest_host_s;
        take_input(&stages[s], plan);
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
