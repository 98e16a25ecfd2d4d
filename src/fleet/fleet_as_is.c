/* A fleet as it is: shares, bottlenecks, sizes by class, and the jobs that lose most. */
#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <string.h>

PACE_FOR_EACH_CPU
static void multiply(double *restrict out, const double *restrict a, const double *restrict b, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = a[i] * b[i];
}

static pace_status add_component(pace_fleet_group *group, const pace_fleet_cohort *cohort, int k) {
    const double *share = cohort->shares.share[k], *error = cohort->shares.error[k];
    const uint64_t *cnodes = cohort->cnodes;
    size_t count = cohort->count;
    double lost[PACE_JOB_BLOCK], lost_error[PACE_JOB_BLOCK];
    multiply(lost, share, cohort->hours, count);
    multiply(lost_error, error, cohort->hours, count);
    pace_sum_add_all(&group->share[PACE_LEVEL_JOB][k], share, count);
    pace_sum_add_all(&group->share_error[PACE_LEVEL_JOB][k], error, count);
    pace_sum_add_all_times(&group->share[PACE_LEVEL_CNODE][k], share, cnodes, count);
    pace_sum_add_all_times(&group->share_error[PACE_LEVEL_CNODE][k], error, cnodes, count);
    pace_sum_add_all(&group->mean_step_s[k], cohort->shares.seconds[k], count);
    pace_sum_add_all(&group->lost_hours[k], lost, count);
    pace_sum_add_all(&group->lost_error[k], lost_error, count);
    return pace_sketch_add_both(&group->shares[PACE_LEVEL_JOB][k], &group->shares[PACE_LEVEL_CNODE][k], share, cnodes,
                                count);
}

PACE_FOR_EACH_CPU
static void count_bottlenecks(pace_fleet_group *group, const pace_fleet_cohort *cohort) {
    for (unsigned k = 0; k < PACE_JOB_COMPONENTS; k++) {
        uint64_t jobs = 0, cnodes = 0;
        for (size_t i = 0; i < cohort->count; i++) {
            bool here = cohort->shares.bottleneck[i] == k;
            jobs += here;
            cnodes += here ? cohort->cnodes[i] : 0;
        }
        group->bottleneck[PACE_LEVEL_JOB][k] += jobs;
        group->bottleneck[PACE_LEVEL_CNODE][k] += cnodes;
        group->jobs += jobs;
        group->cnodes += cnodes;
    }
}

pace_status pace_fleet_group_add(pace_fleet_group *group, const pace_fleet_cohort *cohort) {
    double cnodes[PACE_JOB_BLOCK];
    size_t count = cohort->count;
    if (count == 0) return PACE_OK;
    for (size_t i = 0; i < count; i++) cnodes[i] = (double)cohort->cnodes[i];
    count_bottlenecks(group, cohort);
    pace_sum_add_all(&group->hours, cohort->hours, count);
    pace_sum_add_each(group->bottleneck_hours, PACE_JOB_COMPONENTS, cohort->shares.bottleneck, cohort->hours, count);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) PACE_TRY(add_component(group, cohort, k));
    PACE_TRY(pace_sketch_add_all(&group->cnode_counts, cnodes, NULL, count));
    return pace_sketch_add_all(&group->weight_bytes, cohort->weight_bytes, NULL, count);
}

/* --- jobs worth a call -------------------------------------------------------------------------------------------- */

/* The move that saves most GPU-hours of the job, among those that speed it up. */
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
        job.architecture = b->architecture;
        job.target = b->architecture;
        pace_worst_text(job.id, pace_jobs_id(b->batch, b->place[i]));
        pace_worst_text(job.user, pace_jobs_user(b->batch, b->place[i]));
        if (b->architecture == PACE_JOB_PS_WORKER) best_move(&job, b, i);
        pace_worst_jobs_add(&fleet->worst[bottleneck], &job);
    }
}
