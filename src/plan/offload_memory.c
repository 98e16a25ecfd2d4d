#include "plan/offload_memory.h"

#include <math.h>

/* Whether a stage keeps as much as the one before it: stages in the middle with as many layers of one kind, but for
 * activations, of which each stage has others in flight. */
static bool is_as_before(const pace_step_plan *plan, double stage) {
    bool middle = stage > 1 && stage < plan->config.pp - 1, one_kind = plan->slots->count <= 3;
    return middle && one_kind && plan->config.offload == PACE_OFFLOAD_OPTIMIZER &&
           pace_step_layers_of(plan, stage) == pace_step_layers_of(plan, stage - 1);
}

/* Ranks of a stage are neighbours, and so are stages: a node has so many of some stages. */
typedef struct {
    double stages, ranks;
} node_share;

static node_share share_of(const pace_step_plan *plan, const pace_step_place *place) {
    double ranks = pace_config_ranks(&plan->config), of_stage = ranks / plan->config.pp;
    double of_node = fmin(place->node_ranks, ranks);
    return (node_share){ceil(of_node / of_stage), fmin(of_stage, of_node)};
}

static double fullest_node(const pace_step_plan *plan, node_share node) {
    double pp = plan->config.pp, most = 0, sum = 0, each = 0;
    for (double stage = 0; stage < pp; stage++) {
        if (!is_as_before(plan, stage)) each = pace_step_stage_host_bytes(plan, stage);
        sum += node.ranks * each;
        if (fmod(stage + 1, node.stages) != 0 && stage + 1 < pp) continue;
        most = fmax(most, sum);
        sum = 0;
    }
    return most;
}

static pace_status check(const pace_step_plan *plan, const pace_step_place *place) {
    if (place->device->is_cpu)
        return pace_fail(PACE_E_USAGE, "offload: %s is the host itself: there is no other memory", place->device->name);
    if (plan->config.offload == PACE_OFFLOAD_ACTIVATIONS && plan->slots->layers < 2)
        return pace_fail(PACE_E_USAGE, "offload activations: expected a model that repeats layers");
    return PACE_OK;
}

pace_status pace_offload_check(pace_step_plan *plan, const pace_step_place *place) {
    if (!plan->config.offload) return PACE_OK;
    PACE_TRY(check(plan, place));
    plan->host_bytes = fullest_node(plan, share_of(plan, place));
    plan->host_has_bytes = place->host_bytes;
    return PACE_OK;
}

pace_status pace_offload_screen(pace_step_plan *plan, const pace_step_place *place) {
    bool one_kind = plan->slots->count <= 3 && plan->config.offload == PACE_OFFLOAD_OPTIMIZER;
    node_share node = share_of(plan, place);
    double most = node.stages * node.ranks * plan->rank_host_bytes;
    if (!one_kind || most > place->host_bytes) return pace_offload_check(plan, place);
    PACE_TRY(check(plan, place));
    plan->host_bytes = most;
    plan->host_has_bytes = place->host_bytes;
    return PACE_OK;
}
