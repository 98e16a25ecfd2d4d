/* A fleet as it is: composition, shares, sizes, bottlenecks, the jobs that lose most. */
#include "report/fleet_parts.h"

#include <math.h>
#include <string.h>

static double part_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }

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
    return part_of(pace_sum_value(&group->share[level][component]), (double)pace_fleet_weight(group, level));
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

static const pace_column composition_columns[] = {
    {"architecture", "Architecture", PACE_SHOW_TEXT},
    {"count", "Count", PACE_SHOW_INT},
    {"share", "Share", PACE_SHOW_SHARE},
};

static const pace_column share_columns[] = {
    {"architecture", "Architecture", PACE_SHOW_TEXT},
    {"input_share", "Input", PACE_SHOW_SHARE},
    {"input_share_low", NULL, PACE_SHOW_SHARE},
    {"input_share_high", NULL, PACE_SHOW_SHARE},
    {"compute_bound_share", "Compute-bound", PACE_SHOW_SHARE},
    {"compute_bound_share_low", NULL, PACE_SHOW_SHARE},
    {"compute_bound_share_high", NULL, PACE_SHOW_SHARE},
    {"memory_bound_share", "Memory-bound", PACE_SHOW_SHARE},
    {"memory_bound_share_low", NULL, PACE_SHOW_SHARE},
    {"memory_bound_share_high", NULL, PACE_SHOW_SHARE},
    {"weights_share", "Weights", PACE_SHOW_SHARE},
    {"weights_share_low", "from", PACE_SHOW_SHARE},
    {"weights_share_high", "to", PACE_SHOW_SHARE},
    {"weights_median_share", "Weights, median", PACE_SHOW_SHARE},
    {"weights_over_80_share", "of them over 80 %", PACE_SHOW_SHARE},
    {"input_over_50_share", NULL, PACE_SHOW_SHARE},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void put_share_row(pace_node *table, const char *name, pace_fleet_group *group, int level, bool sketched) {
    pace_sketch *weights = &group->shares[level][PACE_COMPONENT_WEIGHTS];
    pace_table_row(table);
    pace_table_text(table, name);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        pace_table_range(table, pace_fleet_share_range(&group->share[level][k], &group->share_error[level][k],
                                                       (double)pace_fleet_weight(group, level)));
    pace_table_real(table, sketched ? pace_sketch_quantile(weights, 0.5) : NAN);
    pace_table_real(table, sketched ? 1 - pace_sketch_below(weights, 0.8) : NAN);
    pace_table_real(table, sketched ? 1 - pace_sketch_below(&group->shares[level][PACE_COMPONENT_INPUT], 0.5) : NAN);
}

static void put_level(pace_node *levels, pace_fleet_view *view, int level, const char *title) {
    pace_node *object = pace_node_object(levels, pace_level_names[level], title, PACE_FOR_ALL);
    pace_node *table =
        pace_node_table(object, "composition", "Composition", PACE_FOR_ALL, PACE_COLUMNS(composition_columns), 0);
    double whole = (double)pace_fleet_weight(&view->all, level);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        uint64_t weight = pace_fleet_weight(&view->fleet.groups[a], level);
        if (weight == 0) continue;
        pace_table_row(table);
        pace_table_text(table, pace_job_architecture_names[a]);
        pace_table_int(table, (int64_t)weight);
        pace_table_real(table, part_of((double)weight, whole));
    }
    table = pace_node_table(object, "shares", "Mean share of a step", PACE_FOR_ALL, PACE_COLUMNS(share_columns), 0);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
        if (view->fleet.groups[a].jobs > 0)
            put_share_row(table, pace_job_architecture_names[a], &view->fleet.groups[a], level, true);
    put_share_row(table, "all", &view->all, level, false);
}

void pace_put_fleet_levels(pace_node *root, pace_fleet_view *view) {
    pace_node *levels = pace_node_object(root, "levels", NULL, PACE_FOR_ALL);
    put_level(levels, view, PACE_LEVEL_JOB, "By job: every job counts once");
    put_level(levels, view, PACE_LEVEL_CNODE, "By cNode: every GPU with a replica counts once");
}

/* --- the matrix --------------------------------------------------------------------------------------------------- */

/* What the features tell of stages and resources: input is copied; forward, backward and update are one. */
void pace_put_fleet_matrix(pace_node *root, const pace_fleet_view *view) {
    static const char *const stages[] = {"input", "forward_backward_update"};
    static const char *const resources[] = {"compute_bound", "memory_bound", "copy", "exposed_communication"};
    static const double most_ns = 1e18; /* 31 years, which only odd assumptions give; four of them fit 64 bits */
    int64_t mean_ns[PACE_JOB_COMPONENTS];
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        double ns = pace_sum_value(&view->all.mean_step_s[k]) / (double)view->all.jobs * 1e9;
        if (ns > most_ns) return;
        mean_ns[k] = llround(ns);
    }
    const int64_t cells[] = {0,
                             0,
                             mean_ns[PACE_COMPONENT_INPUT],
                             0,
                             mean_ns[PACE_COMPONENT_COMPUTE],
                             mean_ns[PACE_COMPONENT_MEMORY],
                             0,
                             mean_ns[PACE_COMPONENT_WEIGHTS]};
    pace_node_matrix(root, "matrix", "The mean step of all jobs, by stage and resource", PACE_FOR_ALL, stages,
                     COUNT(stages), resources, COUNT(resources), cells);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static const pace_column size_columns[] = {
    {"architecture", "Architecture", PACE_SHOW_TEXT},       {"cnodes_median", "cNodes, median", PACE_SHOW_INT},
    {"cnodes_p90", "9 of 10 up to", PACE_SHOW_INT},         {"cnodes_most", "most", PACE_SHOW_INT},
    {"over_8_share", "more than 8", PACE_SHOW_SHARE},       {"weight_median_bytes", "Weights, median", PACE_SHOW_BYTES},
    {"weight_p90_bytes", "9 of 10 up to", PACE_SHOW_BYTES}, {"weight_most_bytes", "most", PACE_SHOW_BYTES},
};

void pace_put_fleet_sizes(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "sizes", "Sizes of jobs", PACE_FOR_ALL, PACE_COLUMNS(size_columns), 0);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        pace_fleet_group *g = &view->fleet.groups[a];
        if (g->jobs == 0) continue;
        pace_table_row(table);
        pace_table_text(table, pace_job_architecture_names[a]);
        /* cNodes are whole, but the middle of a bin is not. */
        pace_table_int(table, llround(pace_sketch_quantile(&g->cnode_counts, 0.5)));
        pace_table_int(table, llround(pace_sketch_quantile(&g->cnode_counts, 0.9)));
        pace_table_int(table, llround(g->cnode_counts.greatest));
        /* The bin that begins at 9 holds nothing below it, as cNodes are whole. */
        pace_table_real(table, 1 - pace_sketch_below(&g->cnode_counts, 9));
        pace_table_real(table, pace_sketch_quantile(&g->weight_bytes, 0.5));
        pace_table_real(table, pace_sketch_quantile(&g->weight_bytes, 0.9));
        pace_table_real(table, g->weight_bytes.greatest);
    }
}

/* --- bottlenecks -------------------------------------------------------------------------------------------------- */

static const pace_column bottleneck_columns[] = {
    {"bottleneck", "Bottleneck", PACE_SHOW_WORD},
    {"jobs", "Jobs", PACE_SHOW_INT},
    {"jobs_share", "of all", PACE_SHOW_SHARE},
    {"cnodes", "cNodes", PACE_SHOW_INT},
    {"cnodes_share", "of all", PACE_SHOW_SHARE},
    {"gpu_hours", "GPU-hours of these jobs", PACE_SHOW_REAL},
    {"lost_gpu_hours", "GPU-hours in it, all jobs", PACE_SHOW_REAL},
    {"lost_share", "of all", PACE_SHOW_SHARE},
    {"lost_share_low", "from", PACE_SHOW_SHARE},
    {"lost_share_high", "to", PACE_SHOW_SHARE},
};

void pace_put_fleet_bottlenecks(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "bottlenecks", "Bottlenecks: the largest part of a step", PACE_FOR_ALL,
                                       PACE_COLUMNS(bottleneck_columns), 0);
    const pace_fleet_group *all = &view->all;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        uint64_t jobs = all->bottleneck[PACE_LEVEL_JOB][k], cnodes = all->bottleneck[PACE_LEVEL_CNODE][k];
        pace_table_row(table);
        pace_table_text(table, pace_job_component_names[k]);
        pace_table_int(table, (int64_t)jobs);
        pace_table_real(table, part_of((double)jobs, (double)all->jobs));
        pace_table_int(table, (int64_t)cnodes);
        pace_table_real(table, part_of((double)cnodes, (double)all->cnodes));
        pace_table_real(table, pace_sum_value(&all->bottleneck_hours[k]));
        pace_table_real(table, pace_sum_value(&all->lost_hours[k]));
        pace_table_range(table,
                         pace_fleet_share_range(&all->lost_hours[k], &all->lost_error[k], pace_sum_value(&all->hours)));
    }
}

static const pace_column worst_columns[] = {
    {"bottleneck", "Bottleneck", PACE_SHOW_WORD},
    {"job", "Job", PACE_SHOW_TEXT},
    {"user", "User", PACE_SHOW_TEXT},
    {"architecture", "Architecture", PACE_SHOW_TEXT},
    {"cnodes", "cNodes", PACE_SHOW_INT},
    {"gpu_hours", "GPU-hours", PACE_SHOW_REAL},
    {"bottleneck_share", "Its share", PACE_SHOW_SHARE},
    {"lost_gpu_hours", "lost", PACE_SHOW_REAL},
    {"lost_gpu_hours_low", NULL, PACE_SHOW_REAL},
    {"lost_gpu_hours_high", NULL, PACE_SHOW_REAL},
    {"better_as", "Better as", PACE_SHOW_TEXT},
    {"saved_gpu_hours", "saves", PACE_SHOW_REAL},
    {"saved_gpu_hours_low", NULL, PACE_SHOW_REAL},
    {"saved_gpu_hours_high", NULL, PACE_SHOW_REAL},
};

static void put_worst(pace_node *table, const pace_worst_job *job, const char *bottleneck) {
    pace_table_row(table);
    pace_table_text(table, bottleneck);
    pace_table_text(table, job->id);
    pace_table_text(table, job->user);
    pace_table_text(table, pace_job_architecture_names[job->architecture]);
    pace_table_int(table, (int64_t)job->cnodes);
    pace_table_real(table, job->hours);
    pace_table_real(table, job->share);
    pace_table_real(table, job->lost_hours);
    double off = PACE_NORMAL_90 * job->share_error, factor = exp(PACE_NORMAL_90 * job->move_spread);
    pace_table_real(table, fmax(job->share - off, 0) * job->hours);
    pace_table_real(table, fmin(job->share + off, 1) * job->hours);
    if (job->saved_hours > 0) {
        double after = job->hours - job->saved_hours;
        pace_table_text(table, pace_job_architecture_names[job->target]);
        pace_table_real(table, job->saved_hours);
        pace_table_bounds(table, (pace_fleet_range){job->saved_hours, job->hours - after * factor,
                                                    job->hours - after / factor});
    }
}

/* People see users and moves where there are any. */
static void hide_worst(pace_column columns[COUNT(worst_columns)], const pace_fleet *fleet) {
    bool users = false, moves = false;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        for (size_t i = 0; i < fleet->worst[k].count; i++) {
            users = users || *fleet->worst[k].items[i].user;
            moves = moves || fleet->worst[k].items[i].saved_hours > 0;
        }
    memcpy(columns, worst_columns, sizeof worst_columns);
    for (size_t c = 0; c < COUNT(worst_columns); c++) {
        bool user = strcmp(columns[c].key, "user") == 0;
        bool move = strcmp(columns[c].key, "better_as") == 0 || strcmp(columns[c].key, "saved_gpu_hours") == 0;
        if ((user && !users) || (move && !moves)) columns[c].title = NULL;
    }
}

/* The bottleneck that takes most GPU-hours comes first. */
void pace_put_fleet_worst(pace_node *root, const pace_fleet_view *view) {
    pace_column columns[COUNT(worst_columns)];
    hide_worst(columns, &view->fleet);
    pace_node *table = pace_node_table(root, "worst_jobs", "Jobs worth a call: most GPU-hours lost to each bottleneck",
                                       PACE_FOR_ALL, PACE_COLUMNS(columns), 12);
    bool done[PACE_JOB_COMPONENTS] = {false};
    for (int turn = 0; turn < PACE_JOB_COMPONENTS; turn++) {
        int next = -1;
        for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
            if (!done[k] &&
                (next < 0 || pace_sum_value(&view->all.lost_hours[k]) > pace_sum_value(&view->all.lost_hours[next])))
                next = k;
        done[next] = true;
        const pace_worst_jobs *list = &view->fleet.worst[next];
        for (size_t i = 0; i < list->count; i++) put_worst(table, &list->items[i], pace_job_component_names[next]);
    }
}
