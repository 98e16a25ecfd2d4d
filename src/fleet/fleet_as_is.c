/* A fleet as it is: shares, bottlenecks, sizes by class, and the jobs that lose most. */
#include "fleet/fleet_block.h"

#include <string.h>

static void add_lost(pace_fleet_group *group, const pace_fleet_cohort *cohort, int k, size_t first, size_t count) {
    double lost[PACE_JOB_BLOCK], error[PACE_JOB_BLOCK];
    const double *hours = cohort->hours + first;
    for (size_t i = 0; i < count; i++) lost[i] = cohort->shares.share[k][first + i] * hours[i];
    for (size_t i = 0; i < count; i++) error[i] = cohort->shares.error[k][first + i] * hours[i];
    pace_sum_add_all(&group->lost_hours[k], lost, count);
    pace_sum_add_all(&group->lost_error[k], error, count);
}

static pace_status add_component(pace_fleet_group *group, const pace_fleet_cohort *cohort, int k, size_t first,
                                 size_t count) {
    const double *share = cohort->shares.share[k] + first, *error = cohort->shares.error[k] + first;
    const uint64_t *cnodes = cohort->cnodes + first;
    pace_sum_add_all(&group->share[PACE_LEVEL_JOB][k], share, count);
    pace_sum_add_all(&group->share_error[PACE_LEVEL_JOB][k], error, count);
    pace_sum_add_all_times(&group->share[PACE_LEVEL_CNODE][k], share, cnodes, count);
    pace_sum_add_all_times(&group->share_error[PACE_LEVEL_CNODE][k], error, cnodes, count);
    pace_sum_add_all(&group->mean_step_s[k], cohort->shares.seconds[k] + first, count);
    add_lost(group, cohort, k, first, count);
    PACE_TRY(pace_sketch_add_all(&group->shares[PACE_LEVEL_JOB][k], share, NULL, count));
    return pace_sketch_add_all(&group->shares[PACE_LEVEL_CNODE][k], share, cnodes, count);
}

pace_status pace_fleet_group_add(pace_fleet_group *group, const pace_fleet_cohort *cohort, size_t first, size_t count) {
    double cnodes[PACE_JOB_BLOCK];
    if (count == 0) return PACE_OK;
    group->jobs += count;
    for (size_t i = 0; i < count; i++) {
        uint8_t bottleneck = cohort->shares.bottleneck[first + i];
        group->cnodes += cohort->cnodes[first + i];
        group->bottleneck[PACE_LEVEL_JOB][bottleneck]++;
        group->bottleneck[PACE_LEVEL_CNODE][bottleneck] += cohort->cnodes[first + i];
        cnodes[i] = (double)cohort->cnodes[first + i];
    }
    pace_sum_add_all(&group->hours, cohort->hours + first, count);
    pace_sum_add_each(group->bottleneck_hours, PACE_JOB_COMPONENTS, cohort->shares.bottleneck + first,
                      cohort->hours + first, count);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) PACE_TRY(add_component(group, cohort, k, first, count));
    PACE_TRY(pace_sketch_add_all(&group->cnode_counts, cnodes, NULL, count));
    return pace_sketch_add_all(&group->weight_bytes, cohort->weight_bytes + first, NULL, count);
}

pace_status pace_fleet_add_as_is(pace_fleet *fleet, const pace_fleet_block *b) {
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
        PACE_TRY(pace_fleet_group_add(&fleet->groups[a], &b->as_is, b->begin[a], b->begin[a + 1] - b->begin[a]));
    return PACE_OK;
}

/* --- jobs worth a call -------------------------------------------------------------------------------------------- */

/* The move that saves most GPU-hours of the job, among those that speed it up; i counts PS/Worker jobs. */
static void best_move(pace_worst_job *job, const pace_fleet_block *b, size_t i) {
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        const pace_projection *p = &b->projections[t];
        double saved = job->hours * (1 - 1 / p->single_speedup[i]);
        if (p->verdict[i] != PACE_PROJECTED_GAINS || saved <= job->saved_hours) continue;
        job->saved_hours = saved;
        job->move_spread = p->spread[i];
        job->target = pace_fleet_targets[t];
    }
}

void pace_fleet_add_worst(pace_fleet *fleet, const pace_fleet_block *b) {
    const pace_fleet_cohort *cohort = &b->as_is;
    for (size_t i = 0; i < cohort->count; i++) {
        uint8_t bottleneck = cohort->shares.bottleneck[i];
        double share = cohort->shares.share[bottleneck][i], lost = share * cohort->hours[i];
        if (!pace_worst_jobs_wants(&fleet->worst[bottleneck], lost)) continue;
        pace_worst_job job;
        memset(&job, 0, sizeof job);
        job.lost_hours = lost;
        job.hours = cohort->hours[i];
        job.share = share;
        job.share_error = cohort->shares.error[bottleneck][i];
        job.cnodes = (double)cohort->cnodes[i];
        job.architecture = b->architecture[i];
        job.target = b->architecture[i];
        pace_worst_text(job.id, pace_jobs_id(b->batch, b->place[i]));
        pace_worst_text(job.user, pace_jobs_user(b->batch, b->place[i]));
        if (b->architecture[i] == PACE_JOB_PS_WORKER) best_move(&job, b, i - b->begin[PACE_JOB_PS_WORKER]);
        pace_worst_jobs_add(&fleet->worst[bottleneck], &job);
    }
}
