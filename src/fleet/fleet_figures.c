/* Jobs as they are. */
#include "fleet/fleet_figures.h"
#include "base/numbers.h"

pace_fleet_range pace_fleet_factor(const pace_sum *sum, const pace_sum *error, double weight) {
    double value = pace_sum_value(sum), middle = pace_part_of(value, weight);
    double factor = value > 0 ? exp(PACE_NORMAL_90 * pace_sum_value(error) / value) : 1;
    return (pace_fleet_range){middle, middle / factor, middle * factor};
}

/* A mean of shares is off by a difference, and lies within 0 and 1. */
static pace_fleet_range mean_share(const pace_sum *sum, const pace_sum *error, double weight) {
    double middle = pace_part_of(pace_sum_value(sum), weight);
    double off = PACE_NORMAL_90 * pace_part_of(pace_sum_value(error), weight);
    return (pace_fleet_range){middle, fmax(middle - off, fmin(middle, 0)), fmin(middle + off, fmax(middle, 1))};
}

void pace_fleet_view_sum(pace_fleet_view *view) {
    pace_fleet_group *all = &view->all;
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        const pace_fleet_group *g = &view->fleet.groups[a];
        all->jobs += g->jobs;
        all->cnodes += g->cnodes;
        pace_sum_merge(&all->hours, &g->hours);
        for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
            for (int l = 0; l < PACE_LEVELS; l++) {
                pace_sum_merge(&all->share[l][k], &g->share[l][k]);
                pace_sum_merge(&all->share_error[l][k], &g->share_error[l][k]);
                all->bottleneck[l][k] += g->bottleneck[l][k];
            }
            pace_sum_merge(&all->lost_hours[k], &g->lost_hours[k]);
            pace_sum_merge(&all->lost_error[k], &g->lost_error[k]);
            pace_sum_merge(&all->bottleneck_hours[k], &g->bottleneck_hours[k]);
            pace_sum_merge(&all->mean_step_s[k], &g->mean_step_s[k]);
        }
    }
}

double pace_fleet_share(const pace_fleet_group *group, int level, int component) {
    return pace_part_of(pace_sum_value(&group->share[level][component]), (double)pace_fleet_weight(group, level));
}

pace_fleet_range pace_fleet_share_range(const pace_fleet_group *group, int level, int component) {
    return mean_share(&group->share[level][component], &group->share_error[level][component],
                      (double)pace_fleet_weight(group, level));
}

pace_fleet_part pace_fleet_part_of(const pace_fleet_view *view, int architecture, int level) {
    uint64_t weight = pace_fleet_weight(&view->fleet.groups[architecture], level);
    return (pace_fleet_part){pace_job_architecture_names[architecture], weight,
                             pace_part_of((double)weight, (double)pace_fleet_weight(&view->all, level))};
}

pace_fleet_shares pace_fleet_shares_of(pace_fleet_view *view, int architecture, int level) {
    bool one = architecture < PACE_JOB_ARCHITECTURES;
    pace_fleet_group *group = one ? &view->fleet.groups[architecture] : &view->all;
    pace_sketch *weights = &group->shares[level][PACE_COMPONENT_WEIGHTS];
    pace_fleet_shares out = {one ? pace_job_architecture_names[architecture] : "all", .weights_median = NAN,
                             .weights_over_80 = NAN, .input_over_50 = NAN};
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) out.share[k] = pace_fleet_share_range(group, level, k);
    if (!one) return out;
    out.weights_median = pace_sketch_quantile(weights, 0.5);
    out.weights_over_80 = 1 - pace_sketch_below(weights, 0.8);
    out.input_over_50 = 1 - pace_sketch_below(&group->shares[level][PACE_COMPONENT_INPUT], 0.5);
    return out;
}

/* cNodes are whole, but the middle of a sketch's bin is not; the bin that begins at 9 holds nothing below it. */
pace_fleet_size pace_fleet_size_of(pace_fleet_view *view, int architecture) {
    pace_fleet_group *g = &view->fleet.groups[architecture];
    return (pace_fleet_size){.architecture = pace_job_architecture_names[architecture],
                             .cnodes_median = llround(pace_sketch_quantile(&g->cnode_counts, 0.5)),
                             .cnodes_p90 = llround(pace_sketch_quantile(&g->cnode_counts, 0.9)),
                             .cnodes_most = llround(g->cnode_counts.greatest),
                             .over_8_share = 1 - pace_sketch_below(&g->cnode_counts, 9),
                             .weight_median_bytes = pace_sketch_quantile(&g->weight_bytes, 0.5),
                             .weight_p90_bytes = pace_sketch_quantile(&g->weight_bytes, 0.9),
                             .weight_most_bytes = g->weight_bytes.greatest};
}

pace_fleet_bottleneck pace_fleet_bottleneck_of(const pace_fleet_view *view, int component) {
    const pace_fleet_group *all = &view->all;
    uint64_t jobs = all->bottleneck[PACE_LEVEL_JOB][component], cnodes = all->bottleneck[PACE_LEVEL_CNODE][component];
    return (pace_fleet_bottleneck){.bottleneck = pace_job_component_names[component],
                                   .jobs = jobs,
                                   .cnodes = cnodes,
                                   .jobs_share = pace_part_of((double)jobs, (double)all->jobs),
                                   .cnodes_share = pace_part_of((double)cnodes, (double)all->cnodes),
                                   .hours = pace_sum_value(&all->bottleneck_hours[component]),
                                   .lost_hours = pace_sum_value(&all->lost_hours[component]),
                                   .lost_share = mean_share(&all->lost_hours[component], &all->lost_error[component],
                                                            pace_sum_value(&all->hours))};
}

pace_fleet_loser pace_fleet_loser_of(const pace_worst_job *job, int component) {
    double off = PACE_NORMAL_90 * job->share_error, factor = exp(PACE_NORMAL_90 * job->move_spread);
    double after = job->hours - job->saved_hours;
    bool moves = job->saved_hours > 0;
    return (pace_fleet_loser){.bottleneck = pace_job_component_names[component],
                              .id = job->id,
                              .user = job->user,
                              .architecture = pace_job_architecture_names[job->architecture],
                              .target = moves ? pace_job_architecture_names[job->target] : NULL,
                              .cnodes = (int64_t)job->cnodes,
                              .hours = job->hours,
                              .share = job->share,
                              .lost_hours = {job->lost_hours, fmax(job->share - off, 0) * job->hours,
                                             fmin(job->share + off, 1) * job->hours},
                              .saved_hours = moves ? (pace_fleet_range){job->saved_hours, job->hours - after * factor,
                                                                        job->hours - after / factor}
                                                   : (pace_fleet_range){NAN, NAN, NAN}};
}

void pace_fleet_components_by_loss(int order[PACE_JOB_COMPONENTS], const pace_fleet_view *view) {
    const pace_sum *lost = view->all.lost_hours;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        int at = k;
        for (; at > 0 && pace_sum_value(&lost[k]) > pace_sum_value(&lost[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}
