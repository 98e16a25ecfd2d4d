#include "fleet/fleet.h"

const char *const pace_level_names[PACE_LEVELS] = {"job", "cnode"};

const char *const pace_fleet_class_names[PACE_FLEET_CLASSES] = {
    "1w1g", "1wng", "ps_worker", "allreduce_local", "allreduce_cluster", "pearl", "ps_worker_as_allreduce_local"};

const pace_job_architecture pace_fleet_targets[PACE_FLEET_TARGETS] = {PACE_JOB_ALLREDUCE_LOCAL,
                                                                      PACE_JOB_ALLREDUCE_CLUSTER, PACE_JOB_PEARL};

pace_status pace_fleet_init(pace_fleet *out, const pace_job_setting *setting, const pace_fleet_questions *questions,
                            bool exact) {
    pace_fleet fleet = {.setting = setting, .questions = questions, .first_line = UINT64_MAX};
    if (!PACE_MAKE(fleet.answers, questions->items.count) ||
        !PACE_MAKE(fleet.conclusions, questions->assumptions.count)) {
        pace_fleet_free(&fleet);
        return PACE_E_MEMORY;
    }
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        pace_fleet_group *group = &fleet.groups[c];
        group->cnode_counts.exact = group->weight_bytes.exact = exact;
        for (int l = 0; l < PACE_LEVELS; l++)
            for (int k = 0; k < PACE_JOB_COMPONENTS; k++) group->shares[l][k].exact = exact;
    }
    for (int t = 0; t < PACE_FLEET_TARGETS; t++)
        fleet.projections[t].single.exact = fleet.projections[t].throughput.exact = exact;
    *out = fleet;
    return PACE_OK;
}

void pace_fleet_free(pace_fleet *fleet) {
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        pace_fleet_group *group = &fleet->groups[c];
        pace_sketch_free(&group->cnode_counts);
        pace_sketch_free(&group->weight_bytes);
        for (int l = 0; l < PACE_LEVELS; l++)
            for (int k = 0; k < PACE_JOB_COMPONENTS; k++) pace_sketch_free(&group->shares[l][k]);
    }
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_sketch_free(&fleet->projections[t].single);
        pace_sketch_free(&fleet->projections[t].throughput);
    }
    PACE_FREE(fleet->answers, fleet->conclusions);
    *fleet = (pace_fleet){0};
}

uint64_t pace_fleet_weight(const pace_fleet_group *group, int level) {
    return level == PACE_LEVEL_JOB ? group->jobs : group->cnodes;
}
