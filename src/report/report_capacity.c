/* The report of `paceline fleet --pods --nodes`: what a cluster's GPUs were used for, and which could not be. */
#include "report/capacity_parts.h"
#include "ask/cluster_rows.h"

#include <math.h>

enum { INSTANTS = 24 };

static const pace_column model_columns[] = {
    {"model", "GPU", PACE_SHOW_TEXT},
    {"nodes", "Nodes", PACE_SHOW_INT},
    {"gpus", "GPUs", PACE_SHOW_INT},
    {"used_share", "Used", PACE_SHOW_SHARE},
    {"busiest_used_share", "Used when busiest", PACE_SHOW_SHARE},
    {"busiest_free_gpus", "Free then", PACE_SHOW_REAL},
    {"busiest_lost_share", "Lost of the free", PACE_SHOW_SHARE},
};

static const pace_column request_columns[] = {
    {"request", "Request", PACE_SHOW_TEXT},
    {"pods", "Pods", PACE_SHOW_INT},
    {"pods_share", "Of pods", PACE_SHOW_SHARE},
    {"gpu_hours", "GPU-hours", PACE_SHOW_REAL},
    {"gpu_hours_share", "Of GPU-hours", PACE_SHOW_SHARE},
    {"never_scheduled", "Never scheduled", PACE_SHOW_INT},
    {"unplaced", "Not placed", PACE_SHOW_INT},
    {"unplaced_filling", "if none left", PACE_SHOW_INT},
    {"median_wait_s", "Median wait", PACE_SHOW_S},
    {"mean_wait_s", "Mean wait", PACE_SHOW_S},
};

static const pace_column lost_columns[] = {
    {"model", "GPU", PACE_SHOW_TEXT},
    {"request", "Request", PACE_SHOW_TEXT},
    {"free_gpus", "Free GPUs", PACE_SHOW_REAL},
    {"lost_gpus", "Lost to it", PACE_SHOW_REAL},
    {"lost_share", "Lost of the free", PACE_SHOW_SHARE},
};

static const pace_column instant_columns[] = {
    {"time_s", "At", PACE_SHOW_REAL},
    {"used_gpus", "GPUs used", PACE_SHOW_REAL},
    {"used_share", "Used", PACE_SHOW_SHARE},
    {"free_gpus", "Free", PACE_SHOW_REAL},
    {"lost_share", "Lost of the free", PACE_SHOW_SHARE},
};

static double share(double part, double whole) { return whole > 0 ? part / whole : NAN; }

static void put_models(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    pace_node *table = pace_node_table(root, "models", "By GPU", PACE_FOR_ALL, PACE_COLUMNS(model_columns), 0);
    for (size_t m = 0; m < cluster->models.count; m++) {
        const pace_model_use *use = &c->models[m];
        if (use->gpus == 0) continue;
        pace_table_row(table);
        pace_table_text(table, cluster->models.items[m]);
        pace_table_int(table, (int64_t)use->nodes);
        pace_table_int(table, (int64_t)use->gpus);
        pace_table_real(table, share(use->used_gpu_hours, use->gpu_hours));
        pace_table_real(table, share(use->busiest_used, (double)use->gpus));
        pace_table_real(table, use->free);
        pace_table_real(table, share(use->lost_on_average, use->free));
    }
}

static double all_gpu_hours(const pace_capacity *c) {
    double sum = 0;
    for (int kind = 0; kind < PACE_REQUESTS; kind++) sum += c->requests[kind].gpu_hours;
    return sum;
}

static void put_requests(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    pace_node *table =
        pace_node_table(root, "requests", "By size of request", PACE_FOR_ALL, PACE_COLUMNS(request_columns), 0);
    for (int kind = 0; kind < PACE_REQUESTS; kind++) {
        const pace_request_use *use = &c->requests[kind];
        if (use->pods == 0) continue;
        pace_table_row(table);
        pace_table_text(table, pace_request_names[kind]);
        pace_table_int(table, (int64_t)use->pods);
        pace_table_real(table, share((double)use->pods, (double)cluster->pods.count));
        pace_table_real(table, use->gpu_hours);
        pace_table_real(table, share(use->gpu_hours, all_gpu_hours(c)));
        pace_table_int(table, (int64_t)use->never_scheduled);
        pace_table_int(table, (int64_t)use->unplaced);
        pace_table_int(table, (int64_t)use->unplaced_filling);
        pace_table_real(table, use->median_wait_s);
        pace_table_real(table, use->wait_s);
    }
}

static void put_lost(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    pace_node *table = pace_node_table(root, "fragmentation", "Free GPUs that a request cannot take, when busiest",
                                       PACE_FOR_ALL, PACE_COLUMNS(lost_columns), 0);
    for (size_t m = 0; m < cluster->models.count; m++) {
        const pace_model_use *use = &c->models[m];
        for (int kind = PACE_REQUEST_PART; kind < PACE_REQUESTS && use->gpus > 0; kind++) {
            if (c->requests[kind].pods == 0) continue;
            pace_table_row(table);
            pace_table_text(table, cluster->models.items[m]);
            pace_table_text(table, pace_request_names[kind]);
            pace_table_real(table, use->free);
            pace_table_real(table, use->lost[kind]);
            pace_table_real(table, share(use->lost[kind], use->free));
        }
    }
}

static void put_instants(pace_node *root, const pace_capacity *c) {
    pace_node *table = pace_node_table(root, "instants", "Over time", PACE_FOR_ALL, PACE_COLUMNS(instant_columns), 0);
    for (size_t i = 0; i < c->instant_count; i++) {
        const pace_capacity_instant *at = &c->instants[i];
        pace_table_row(table);
        pace_table_real(table, at->time_s);
        pace_table_real(table, at->used);
        pace_table_real(table, share(at->used, c->gpus));
        pace_table_real(table, at->free);
        pace_table_real(table, share(at->lost, at->free));
    }
}

static const pace_column filling_columns[] = {
    {"asked_share", "Asked for", PACE_SHOW_SHARE},
    {"used_share", "Used", PACE_SHOW_SHARE},
    {"free_gpus", "Free", PACE_SHOW_REAL},
    {"lost_share", "Lost of the free", PACE_SHOW_SHARE},
    {"lost_of_all_share", "of all", PACE_SHOW_SHARE},
};

static void put_filling(pace_node *root, const pace_capacity *c) {
    pace_node *table = pace_node_table(root, "filling", "Had all pods come and none had left", PACE_FOR_ALL,
                                       PACE_COLUMNS(filling_columns), 0);
    for (size_t i = 0; i < c->filling_count; i++) {
        const pace_capacity_filling *at = &c->filling[i];
        pace_table_row(table);
        pace_table_real(table, share(at->asked, c->gpus));
        pace_table_real(table, share(at->used, c->gpus));
        pace_table_real(table, at->free);
        pace_table_real(table, share(at->lost, at->free));
        pace_table_real(table, share(at->lost, c->gpus));
    }
}

static void put_sentences(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    double free = 0, lost = 0, used = 0;
    size_t unplaced = 0, never = 0;
    for (size_t m = 0; m < cluster->models.count; m++) {
        used += c->models[m].busiest_used;
        free += c->models[m].free;
        lost += c->models[m].lost_on_average;
    }
    for (int kind = 0; kind < PACE_REQUESTS; kind++) {
        unplaced += c->requests[kind].unplaced;
        never += c->requests[kind].never_scheduled;
    }
    const pace_request_use *part = &c->requests[PACE_REQUEST_PART];
    pace_node_sentence(root, true,
                       "%.0f GPUs in %zu nodes: %.1f %% in use on average over %.0f days, %.1f %% when busiest.",
                       c->gpus, cluster->nodes.count, 100 * c->mean_used / c->gpus, c->span_s / 86400,
                       100 * used / c->gpus);
    pace_node_sentence(root, false,
                       "When busiest, %.0f GPUs are free, and %.0f %% of that cannot be taken by an average request.",
                       free, 100 * share(lost, free));
    pace_node_sentence(root, false,
                       "Requests for a part of a GPU are %.0f %% of the pods and %.0f %% of the GPU-hours.",
                       100 * share((double)part->pods, (double)cluster->pods.count),
                       100 * share(part->gpu_hours, all_gpu_hours(c)));
    pace_node_sentence(root, false,
                       "%zu of %zu pods were never scheduled; %zu that were could not be placed in the replay.", never,
                       cluster->pods.count, unplaced);
    const pace_capacity_filling *full = &c->filling[c->filling_count - 1];
    pace_node_sentence(
        root, false,
        "Had all come and none had left, they would have asked for %.0f %% of the GPUs and got %.0f %%; an average "
        "request could not take %.0f %% of what is free then.",
        100 * share(full->asked, c->gpus), 100 * share(full->used, c->gpus), 100 * share(full->lost, full->free));
    pace_node_int(root, "pods", (int64_t)cluster->pods.count);
    pace_node_int(root, "nodes", (int64_t)cluster->nodes.count);
    pace_node_real(root, "gpus", c->gpus);
    pace_node_real(root, "span_s", c->span_s);
    pace_node_real(root, "used_share", c->mean_used / c->gpus);
    pace_node_real(root, "busiest_time_s", c->busiest_s);
    pace_node_real(root, "busiest_used_share", used / c->gpus);
    pace_node_real(root, "busiest_free_gpus", free);
    pace_node_real(root, "busiest_lost_share", share(lost, free));
    pace_node_int(root, "never_scheduled", (int64_t)never);
    pace_node_int(root, "unplaced", (int64_t)unplaced);
}

static void describe(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    put_sentences(root, cluster, c);
    put_models(root, cluster, c);
    put_requests(root, cluster, c);
    put_lost(root, cluster, c);
    put_filling(root, c);
    put_instants(root, c);
    pace_node_note(
        root,
        "Pods tell when they ran, not where: they are placed anew in the order in which they were scheduled, each on the "
        "node with the least GPU free where it fits. A real scheduler may have done better or worse.");
    pace_node_note(
        root,
        "Lost: free parts of GPUs that a request cannot take, because they are smaller than it wants or their node "
        "lacks CPU, memory or enough of them (Weng et al., USENIX ATC 2023); on average over the requests "
        "that were made.");
    pace_put_capacity_charts(root, cluster, c);
}

typedef pace_status (*read_fn)(pace_cluster *cluster, pace_input *input);

static pace_status read_file(pace_cluster *cluster, pace_report *report, const char *path, read_fn read) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = read(cluster, input);
    pace_report_add_input(report, pace_input_name(input), pace_input_stored_bytes(input));
    pace_input_free(input);
    return status;
}

static pace_status answer(pace_report *report, pace_cluster *cluster, const char *pods, const char *nodes) {
    pace_capacity capacity;
    PACE_TRY(read_file(cluster, report, nodes, pace_cluster_read_nodes));
    PACE_TRY(read_file(cluster, report, pods, pace_cluster_read_pods));
    PACE_TRY(pace_capacity_of(&capacity, cluster, INSTANTS));
    describe(pace_report_root(report), cluster, &capacity);
    pace_capacity_free(&capacity);
    return pace_report_status(report);
}

pace_status pace_cluster_capacity(pace_report **out, const char *pods_path, const char *nodes_path,
                                  const pace_cluster_options *options) {
    pace_report *report;
    pace_cluster cluster = {0};
    PACE_TRY(pace_report_new(&report, "capacity", "Capacity of a cluster"));
    pace_report_set_command(report, options->command, options->command_count);
    pace_status status = answer(report, &cluster, pods_path, nodes_path);
    pace_cluster_free(&cluster);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}
