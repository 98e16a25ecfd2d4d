/* Which layers the stages of a step hold. */
#include "model/pipeline_stages.h"
#include "plan/step_plan.h"

double pace_step_layers_of(const pace_step_plan *plan, double stage) {
    const pace_pipeline cut = pace_config_pipeline(&plan->config);
    return pace_held_layers(&cut, plan->slots->layers, (uint32_t)stage);
}

uint32_t pace_step_tail_part(const pace_step_plan *plan, const pace_model_part *tail) {
    const pace_pipeline shape = pace_config_pipeline(&plan->config);
    double parts = plan->config.pp * plan->config.vpp, turns = 0;
    uint32_t part = (uint32_t)parts - 1;
    bool between = tail->behind < plan->slots->layers && pace_framework_is_lowered(plan->framework);
    for (uint32_t i = 0; between && i < parts && turns < tail->behind; i++) {
        part = i;
        turns += pace_part_layers(&shape, plan->slots->layers, i);
    }
    return part;
}

double pace_step_tail_stage(const pace_step_plan *plan, const pace_model_part *tail) {
    const pace_pipeline shape = pace_config_pipeline(&plan->config);
    return pace_pipeline_stage(&shape, pace_step_tail_part(plan, tail));
}

/* Of the stages in the middle the first with most layers, which is the second but of uneven chunks. */
static void find_fullest(pace_step_plan *plan) {
    plan->fullest = plan->config.pp > 2;
    plan->layers_most = pace_step_layers_of(plan, plan->fullest);
    for (double stage = 2; plan->config.vpp > 1 && stage < plan->config.pp - 1; stage++) {
        double layers = pace_step_layers_of(plan, stage);
        if (layers > plan->layers_most) plan->fullest = stage, plan->layers_most = layers;
    }
}

pace_status pace_step_stages_cut(pace_step_plan *plan) {
    const pace_pipeline pipeline = pace_config_pipeline(&plan->config);
    PACE_TRY(pace_pipeline_check(&pipeline));
    PACE_TRY(pace_stages_check(plan->slots->layers, plan->config.pp, plan->config.vpp));
    plan->layers_first = pace_step_layers_of(plan, 0);
    find_fullest(plan);
    return PACE_OK;
}
