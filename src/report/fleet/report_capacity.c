/* The report of `paceline fleet --pods --nodes`: what a cluster's GPUs were used for, and which could not be. */
#include "report/fleet/fleet_parts.h"
#include "report/engines.h"
#include "ask/fleet/capacity_asked.h"
#include "ask/plan/plan_words.h"
#include "report/table.h"

typedef struct {
    const char *model;
    pace_model_use use;
} model_row;

PACE_TABLE(models, "models", "By GPU", PACE_FOR_ALL, 0, {"model", "GPU", PACE_SHOW_TEXT, PACE_OF(model_row, model)},
           {"nodes", "Nodes", PACE_SHOW_INT, PACE_OF(model_row, use.nodes)},
           {"gpus", "GPUs", PACE_SHOW_INT, PACE_OF(model_row, use.gpus)},
           {"used_share", "Used", PACE_SHOW_SHARE, PACE_OF(model_row, use.used_share)},
           {"busiest_used_share", "Used when busiest", PACE_SHOW_SHARE, PACE_OF(model_row, use.busiest_used_share)},
           {"busiest_free_gpus", "Free then", PACE_SHOW_REAL, PACE_OF(model_row, use.free)},
           {"busiest_lost_share", "Lost of free", PACE_SHOW_SHARE, PACE_OF(model_row, use.lost_share)});

static void put_models(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    pace_node *table = pace_open_table(root, &models, 0);
    for (size_t m = 0; m < cluster->models.count; m++)
        if (c->models[m].gpus > 0) pace_table_put(table, &(model_row){cluster->models.items[m], c->models[m]});
}

typedef struct {
    const char *request;
    pace_request_use use;
} request_row;

PACE_TABLE(requests, "requests", "By size of request", PACE_FOR_ALL, 0,
           {"request", "Request", PACE_SHOW_TEXT, PACE_OF(request_row, request)},
           {"pods", "Pods", PACE_SHOW_INT, PACE_OF(request_row, use.pods)},
           {"pods_share", "Of pods", PACE_SHOW_SHARE, PACE_OF(request_row, use.pods_share)},
           {"gpu_hours", "GPU-hours", PACE_SHOW_REAL, PACE_OF(request_row, use.gpu_hours)},
           {"gpu_hours_share", "Of GPU-hours", PACE_SHOW_SHARE, PACE_OF(request_row, use.gpu_hours_share)},
           {"never_scheduled", "Never scheduled", PACE_SHOW_INT, PACE_OF(request_row, use.never_scheduled)},
           {"unplaced", "Not placed", PACE_SHOW_INT, PACE_OF(request_row, use.unplaced)},
           {"unplaced_filling", "if none leave", PACE_SHOW_INT, PACE_OF(request_row, use.unplaced_filling)},
           {"median_wait_s", "Median wait", PACE_SHOW_S, PACE_OF(request_row, use.median_wait_s)},
           {"mean_wait_s", "Mean wait", PACE_SHOW_S, PACE_OF(request_row, use.wait_s)});

static void put_requests(pace_node *root, const pace_capacity *c) {
    pace_node *table = pace_open_table(root, &requests, 0);
    for (int kind = 0; kind < PACE_REQUESTS; kind++)
        if (c->requests[kind].pods > 0)
            pace_table_put(table, &(request_row){pace_request_names[kind], c->requests[kind]});
}

typedef struct {
    const char *model, *request;
    double free, lost, lost_share;
} lost_row;

PACE_TABLE(fragmentation, "fragmentation", "Free GPUs that a request cannot use, when busiest", PACE_FOR_ALL, 0,
           {"model", "GPU", PACE_SHOW_TEXT, PACE_OF(lost_row, model)},
           {"request", "Request", PACE_SHOW_TEXT, PACE_OF(lost_row, request)},
           {"free_gpus", "Free GPUs", PACE_SHOW_REAL, PACE_OF(lost_row, free)},
           {"lost_gpus", "Lost to it", PACE_SHOW_REAL, PACE_OF(lost_row, lost)},
           {"lost_share", "Lost of free", PACE_SHOW_SHARE, PACE_OF(lost_row, lost_share)});

static void put_lost(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    pace_node *table = pace_open_table(root, &fragmentation, 0);
    for (size_t m = 0; m < cluster->models.count; m++) {
        const pace_model_use *use = &c->models[m];
        for (int kind = PACE_REQUEST_PART; kind < PACE_REQUESTS && use->gpus > 0; kind++)
            if (c->requests[kind].pods > 0)
                pace_table_put(table, &(lost_row){cluster->models.items[m], pace_request_names[kind], use->free,
                                                  use->lost[kind], use->lost_shares[kind]});
    }
}

PACE_TABLE(instants, "instants", "Over time", PACE_FOR_ALL, 0,
           {"time_s", "At s", PACE_SHOW_REAL, PACE_OF(pace_capacity_instant, time_s)},
           {"used_gpus", "GPUs used", PACE_SHOW_REAL, PACE_OF(pace_capacity_instant, used)},
           {"used_share", "Used", PACE_SHOW_SHARE, PACE_OF(pace_capacity_instant, used_share)},
           {"free_gpus", "Free", PACE_SHOW_REAL, PACE_OF(pace_capacity_instant, free)},
           {"lost_share", "Lost of free", PACE_SHOW_SHARE, PACE_OF(pace_capacity_instant, lost_share)});

PACE_TABLE(filling, "filling", "If all pods had arrived and none had left", PACE_FOR_ALL, 0,
           {"asked_share", "Asked for", PACE_SHOW_SHARE, PACE_OF(pace_capacity_filling, asked_share)},
           {"used_share", "Used", PACE_SHOW_SHARE, PACE_OF(pace_capacity_filling, used_share)},
           {"free_gpus", "Free", PACE_SHOW_REAL, PACE_OF(pace_capacity_filling, free)},
           {"lost_share", "Lost of free", PACE_SHOW_SHARE, PACE_OF(pace_capacity_filling, lost_share)},
           {"lost_of_all_share", "of all", PACE_SHOW_SHARE, PACE_OF(pace_capacity_filling, lost_of_all_share)});

static void put_sentences(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    const pace_capacity_total *all = &c->total;
    const pace_request_use *part = &c->requests[PACE_REQUEST_PART];
    char span[32];
    pace_say_span(span, c->span_s);
    pace_node_sentence(root, true, "%.0f GPUs in %zu nodes: %.1f %% in use on average over %s, %.1f %% when busiest.",
                       c->gpus, cluster->nodes.count, 100 * all->used_share, span, 100 * all->busiest_used_share);
    pace_node_sentence(root, false, "When busiest, %.0f GPUs are free; the average request cannot use %.0f %% of them.",
                       all->free, 100 * all->lost_share);
    pace_node_sentence(root, false,
                       "Requests for a part of a GPU are %.0f %% of the pods and %.0f %% of the GPU-hours.",
                       100 * part->pods_share, 100 * part->gpu_hours_share);
    pace_node_sentence(root, false,
                       "%zu of %zu pods were never scheduled; the replay could not place %zu of the others.",
                       all->never_scheduled, cluster->pods.count, all->unplaced);
    const pace_capacity_filling *full = &c->filling[c->filling_count - 1];
    pace_node_sentence(
        root, false,
        "If all pods had arrived and none had left, they would request %.0f %% of the GPUs and get %.0f %%; the "
        "average request could not use %.0f %% of the free GPUs.",
        100 * full->asked_share, 100 * full->used_share, 100 * full->lost_share);
    pace_node_int(root, "pods", (int64_t)cluster->pods.count);
    pace_node_int(root, "nodes", (int64_t)cluster->nodes.count);
    pace_node_real(root, "gpus", c->gpus);
    pace_node_real(root, "span_s", c->span_s);
    pace_node_real(root, "used_share", all->used_share);
    pace_node_real(root, "busiest_time_s", c->busiest_s);
    pace_node_real(root, "busiest_used_share", all->busiest_used_share);
    pace_node_real(root, "busiest_free_gpus", all->free);
    pace_node_real(root, "busiest_lost_share", all->lost_share);
    pace_node_int(root, "never_scheduled", (int64_t)all->never_scheduled);
    pace_node_int(root, "unplaced", (int64_t)all->unplaced);
}

static void describe(pace_node *root, const pace_cluster *cluster, const pace_capacity *c) {
    put_sentences(root, cluster, c);
    put_models(root, cluster, c);
    put_requests(root, c);
    put_lost(root, cluster, c);
    pace_put_table(root, &filling, c->filling, c->filling_count, sizeof *c->filling);
    pace_put_table(root, &instants, c->instants, c->instant_count, sizeof *c->instants);
    pace_node_note(
        root,
        "The trace records when pods ran, not where. The replay places them in scheduling order, each on the fitting "
        "node with the least free GPU; a real scheduler may do better or worse.");
    pace_node_note(
        root,
        "Lost: free GPU parts that a request cannot use, because they are too small or their node lacks CPU, memory or "
        "enough of them (Weng et al., USENIX ATC 2023), averaged over the requests made.");
    pace_put_capacity_charts(root, cluster, c);
}

static pace_status answer(pace_report *report, void *context) {
    const pace_capacity_asked *asked = context;
    for (int i = 0; i < 2; i++) pace_report_add_input(report, asked->paths[i], asked->bytes[i]);
    describe(pace_report_root(report), &asked->cluster, &asked->found);
    return PACE_OK;
}

pace_status pace_cluster_capacity(pace_report **out, pace_catalog *catalog, const char *pods_path,
                                  const char *nodes_path) {
    pace_capacity_asked asked;
    pace_status status = pace_capacity_ask(&asked, catalog, pods_path, nodes_path);
    if (status == PACE_OK) status = pace_report_build(out, "capacity", "Capacity of a cluster", answer, &asked);
    pace_capacity_asked_free(&asked);
    return status;
}
