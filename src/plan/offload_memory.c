#include "plan/offload_memory.h"

#include <math.h>

/* Whether a stage keeps as much as the one before it: stages in the middle with as many layers of one kind, but for
 * activations, of which each stage has others in flight. */
static bool is_as_before(const pace_step_plan *plan, double stage) {
    bool middle = stage > 1 && stage < plan->config.pp - 1, one_kind = plan->slots->count <= 3;
    return middle && one_kind && plan->config.offload == PACE_OFFLOAD_OPTIMIZER &&
           pace_step_layers_of(plan, stage) == pace_step_layers_of(plan, stage - 1);
}

/* Ranks of a stage are neighbours, and so are stages. */
static double fullest_node(const pace_step_plan *plan, double node_ranks) {
    double pp = plan->config.pp, of_stage = pace_config_ranks(&plan->config) / pp;
    double stages = ceil(node_ranks / of_stage), most = 0, sum = 0, each = 0;
    for (double stage = 0; stage < pp; stage++) {
        if (!is_as_before(plan, stage)) each = pace_step_stage_memory(plan, stage).host_bytes;
        sum += fmin(of_stage, node_ranks) * each;
        if (fmod(stage + 1, stages) != 0 && stage + 1 < pp) continue;
        most = fmax(most, sum);
        sum = 0;
    }
    return most;
}

pace_status pace_offload_check(pace_step_plan *plan, const pace_step_place *place) {
    if (!plan->config.offload) return PACE_OK;
    if (place->device->is_cpu)
        return pace_fail(PACE_E_USAGE, "offload: %s is the host itself: there is no other memory", place->device->name);
    if (plan->config.offload == PACE_OFFLOAD_ACTIVATIONS && plan->slots->layers < 2)
        return pace_fail(PACE_E_USAGE, "offload activations: expected a model that repeats layers");
    plan->host_bytes = fullest_node(plan, fmin(place->node_ranks, pace_config_ranks(&plan->config)));
    plan->host_has_bytes = place->host_bytes;
    return PACE_OK;
}
