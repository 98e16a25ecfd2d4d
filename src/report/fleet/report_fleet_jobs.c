/* A fleet as it is: composition, shares, sizes, bottlenecks, the jobs that lose most. */
#include "report/fleet/fleet_parts.h"
#include "report/table.h"

PACE_TABLE(composition, "composition", "Composition", PACE_FOR_ALL, 0,
           {"architecture", "Architecture", PACE_SHOW_TEXT, PACE_OF(pace_fleet_part, architecture)},
           {"count", "Count", PACE_SHOW_INT, PACE_OF(pace_fleet_part, count)},
           {"share", "Share", PACE_SHOW_SHARE, PACE_OF(pace_fleet_part, share)});

#define SHARE(component, bound) PACE_OF(pace_fleet_shares, share[PACE_COMPONENT_##component].bound)

PACE_TABLE(shares, "shares", "Mean share of a step", PACE_FOR_ALL, 0,
           {"architecture", "Architecture", PACE_SHOW_TEXT, PACE_OF(pace_fleet_shares, architecture)},
           {"input_share", "Input", PACE_SHOW_SHARE, SHARE(INPUT, middle)},
           {"input_share_low", NULL, PACE_SHOW_SHARE, SHARE(INPUT, low)},
           {"input_share_high", NULL, PACE_SHOW_SHARE, SHARE(INPUT, high)},
           {"compute_bound_share", "Compute-bound", PACE_SHOW_SHARE, SHARE(COMPUTE, middle)},
           {"compute_bound_share_low", NULL, PACE_SHOW_SHARE, SHARE(COMPUTE, low)},
           {"compute_bound_share_high", NULL, PACE_SHOW_SHARE, SHARE(COMPUTE, high)},
           {"memory_bound_share", "Memory-bound", PACE_SHOW_SHARE, SHARE(MEMORY, middle)},
           {"memory_bound_share_low", NULL, PACE_SHOW_SHARE, SHARE(MEMORY, low)},
           {"memory_bound_share_high", NULL, PACE_SHOW_SHARE, SHARE(MEMORY, high)},
           {"weights_share", "Weights", PACE_SHOW_SHARE, SHARE(WEIGHTS, middle)},
           {"weights_share_low", "from", PACE_SHOW_SHARE, SHARE(WEIGHTS, low)},
           {"weights_share_high", "to", PACE_SHOW_SHARE, SHARE(WEIGHTS, high)},
           {"weights_median_share", "Weights, median", PACE_SHOW_SHARE, PACE_OF(pace_fleet_shares, weights_median)},
           {"weights_over_80_share", "over 80 %", PACE_SHOW_SHARE, PACE_OF(pace_fleet_shares, weights_over_80)},
           {"input_over_50_share", NULL, PACE_SHOW_SHARE, PACE_OF(pace_fleet_shares, input_over_50)});

static const char *const level_titles[PACE_LEVELS][2] = {{"Composition, by job", "Mean share of a step, by job"},
                                                         {"Composition, by cNode", "Mean share of a step, by cNode"}};

static void put_level(pace_node *levels, pace_fleet_view *view, int level, const char *title) {
    pace_node *object = pace_node_object(levels, pace_level_names[level], title, PACE_FOR_ALL);
    pace_node *parts = pace_open_table_as(object, &composition, 0, level_titles[level][0]);
    pace_node *table = pace_open_table_as(object, &shares, 0, level_titles[level][1]);
    for (int a = 0; a <= PACE_JOB_ARCHITECTURES; a++) {
        bool all = a == PACE_JOB_ARCHITECTURES;
        if (!all && view->fleet.groups[a].jobs == 0) continue;
        if (!all) pace_table_put(parts, &(pace_fleet_part[]){pace_fleet_part_of(view, a, level)});
        pace_table_put(table, &(pace_fleet_shares[]){pace_fleet_shares_of(view, a, level)});
    }
}

void pace_put_fleet_levels(pace_node *root, pace_fleet_view *view) {
    pace_node *levels = pace_node_object(root, "levels", NULL, PACE_FOR_ALL);
    put_level(levels, view, PACE_LEVEL_JOB, "By job: every job counts once");
    put_level(levels, view, PACE_LEVEL_CNODE, "By cNode: every GPU with a replica counts once");
}

/* Features tell the copying of input from forward, backward and update, which are one stage here. */
void pace_put_fleet_matrix(pace_node *root, const pace_fleet_view *view) {
    static const char *const stages[] = {"input", "forward_backward_update"};
    static const char *const resources[] = {"compute_bound", "memory_bound", "copy", "exposed_communication"};
    static const pace_class colors[] = {PACE_CLASS_COMPUTE, PACE_CLASS_MEMORY, PACE_CLASS_COPY,
                                        PACE_CLASS_COMMUNICATION};
    static const double most_ns = 1e18; /* 31 years, from odd assumptions only; the sum of four fits 64 bits */
    int64_t mean_ns[PACE_JOB_COMPONENTS];
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        double ns = pace_sum_value(&view->all.mean_step_s[k]) / (double)view->all.jobs * 1e9;
        if (ns > most_ns) return;
        mean_ns[k] = llround(ns);
    }
    const int64_t cells[2][4] = {{0, 0, mean_ns[PACE_COMPONENT_INPUT], 0},
                                 {mean_ns[PACE_COMPONENT_COMPUTE], mean_ns[PACE_COMPONENT_MEMORY], 0,
                                  mean_ns[PACE_COMPONENT_WEIGHTS]}};
    pace_node_matrix(root, "matrix", "The mean step of all jobs, by stage and resource", PACE_FOR_ALL, stages, 2,
                     resources, 4, &cells[0][0]);
    pace_node_color_matrix(root, colors);
}

PACE_TABLE(sizes, "sizes", "Sizes of jobs", PACE_FOR_ALL, 0,
           {"architecture", "Architecture", PACE_SHOW_TEXT, PACE_OF(pace_fleet_size, architecture)},
           {"cnodes_median", "cNodes, median", PACE_SHOW_INT, PACE_OF(pace_fleet_size, cnodes_median)},
           {"cnodes_p90", "90th percentile", PACE_SHOW_INT, PACE_OF(pace_fleet_size, cnodes_p90)},
           {"cnodes_most", "most", PACE_SHOW_INT, PACE_OF(pace_fleet_size, cnodes_most)},
           {"over_8_share", "more than 8", PACE_SHOW_SHARE, PACE_OF(pace_fleet_size, over_8_share)},
           {"weight_median_bytes", "Weights, median", PACE_SHOW_BYTES, PACE_OF(pace_fleet_size, weight_median_bytes)},
           {"weight_p90_bytes", "90th percentile", PACE_SHOW_BYTES, PACE_OF(pace_fleet_size, weight_p90_bytes)},
           {"weight_most_bytes", "most", PACE_SHOW_BYTES, PACE_OF(pace_fleet_size, weight_most_bytes)});

void pace_put_fleet_sizes(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &sizes, 0);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
        if (view->fleet.groups[a].jobs > 0) pace_table_put(table, &(pace_fleet_size[]){pace_fleet_size_of(view, a)});
}

PACE_TABLE(bottlenecks, "bottlenecks", "Bottlenecks: the largest component of a step", PACE_FOR_ALL, 0,
           {"bottleneck", "Bottleneck", PACE_SHOW_WORD, PACE_OF(pace_fleet_bottleneck, bottleneck)},
           {"jobs", "Jobs", PACE_SHOW_INT, PACE_OF(pace_fleet_bottleneck, jobs)},
           {"jobs_share", "of all", PACE_SHOW_SHARE, PACE_OF(pace_fleet_bottleneck, jobs_share)},
           {"cnodes", "cNodes", PACE_SHOW_INT, PACE_OF(pace_fleet_bottleneck, cnodes)},
           {"cnodes_share", "of all", PACE_SHOW_SHARE, PACE_OF(pace_fleet_bottleneck, cnodes_share)},
           {"gpu_hours", "GPU-hours of these jobs", PACE_SHOW_REAL, PACE_OF(pace_fleet_bottleneck, hours)},
           {"lost_gpu_hours", "GPU-hours lost, all jobs", PACE_SHOW_REAL, PACE_OF(pace_fleet_bottleneck, lost_hours)},
           {"lost_share", "of all", PACE_SHOW_SHARE, PACE_OF(pace_fleet_bottleneck, lost_share.middle)},
           {"lost_share_low", "from", PACE_SHOW_SHARE, PACE_OF(pace_fleet_bottleneck, lost_share.low)},
           {"lost_share_high", "to", PACE_SHOW_SHARE, PACE_OF(pace_fleet_bottleneck, lost_share.high)});

void pace_put_fleet_bottlenecks(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &bottlenecks, 0);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        pace_table_put(table, &(pace_fleet_bottleneck[]){pace_fleet_bottleneck_of(view, k)});
}

enum { WITH_USERS = 1, WITH_MOVES = 2 };

PACE_TABLE(worst_jobs, "worst_jobs", "Worst jobs: most GPU-hours lost to each bottleneck", PACE_FOR_ALL, 12,
           {"bottleneck", "Bottleneck", PACE_SHOW_WORD, PACE_OF(pace_fleet_loser, bottleneck)},
           {"job", "Job", PACE_SHOW_TEXT, PACE_OF(pace_fleet_loser, id)},
           {"user", "User", PACE_SHOW_TEXT, PACE_OF(pace_fleet_loser, user), .shown_if = WITH_USERS},
           {"architecture", "Architecture", PACE_SHOW_TEXT, PACE_OF(pace_fleet_loser, architecture)},
           {"cnodes", "cNodes", PACE_SHOW_INT, PACE_OF(pace_fleet_loser, cnodes)},
           {"gpu_hours", "GPU-hours", PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, hours)},
           {"bottleneck_share", "Share", PACE_SHOW_SHARE, PACE_OF(pace_fleet_loser, share)},
           {"lost_gpu_hours", "lost", PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, lost_hours.middle)},
           {"lost_gpu_hours_low", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, lost_hours.low)},
           {"lost_gpu_hours_high", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, lost_hours.high)},
           {"better_as", "Better as", PACE_SHOW_TEXT, PACE_OF(pace_fleet_loser, target), .shown_if = WITH_MOVES},
           {"saved_gpu_hours", "saves", PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, saved_hours.middle),
            .shown_if = WITH_MOVES},
           {"saved_gpu_hours_low", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, saved_hours.low)},
           {"saved_gpu_hours_high", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_loser, saved_hours.high)});

static unsigned users_and_moves(const pace_fleet *fleet) {
    unsigned flags = 0;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        for (size_t i = 0; i < fleet->worst[k].count; i++) {
            if (*fleet->worst[k].items[i].user) flags |= WITH_USERS;
            if (fleet->worst[k].items[i].saved_hours > 0) flags |= WITH_MOVES;
        }
    return flags;
}

void pace_put_fleet_worst(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &worst_jobs, users_and_moves(&view->fleet));
    int order[PACE_JOB_COMPONENTS];
    pace_fleet_components_by_loss(order, view);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        const pace_worst_jobs *list = &view->fleet.worst[order[k]];
        for (size_t i = 0; i < list->count; i++)
            pace_table_put(table, &(pace_fleet_loser[]){pace_fleet_loser_of(&list->items[i], order[k])});
    }
}
