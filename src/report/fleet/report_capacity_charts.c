/* A cluster's GPUs drawn: used, free, and lost to requests, by model, by size of request, over time and as it fills. */
#include "report/fleet/fleet_parts.h"

#include <stdio.h>

static void draw_models(pace_node *section, const pace_cluster *cluster, const pace_capacity *c) {
    static const char *const parts[] = {"used", "free", "free, but unusable for the average request"};
    pace_node *chart = pace_node_stacks(section, "GPUs by model, when the cluster is busiest", parts, 3);
    for (size_t m = 0; m < cluster->models.count; m++) {
        const pace_model_use *use = &c->models[m];
        if (use->gpus == 0) continue;
        double gpus = (double)use->gpus;
        pace_chart_curve(chart, PACE_CURVE_LINE, "%.16s, %zu GPUs", cluster->models.items[m], use->gpus);
        pace_chart_point(chart, 0, use->busiest_used_share);
        pace_chart_point(chart, 1, (use->free - use->lost_on_average) / gpus);
        pace_chart_point(chart, 2, use->lost_on_average / gpus);
    }
}

static void draw_use(pace_node *section, const pace_cluster *cluster, const pace_capacity *c) {
    static const char *const parts[] = {"used", "free"};
    pace_node *chart = pace_node_stacks(section, "GPU-hours by model, over the whole time", parts, 2);
    for (size_t m = 0; m < cluster->models.count; m++) {
        const pace_model_use *use = &c->models[m];
        if (!(use->gpu_hours > 0)) continue;
        pace_chart_curve(chart, PACE_CURVE_LINE, "%s", cluster->models.items[m]);
        pace_chart_point(chart, 0, use->used_share);
        pace_chart_point(chart, 1, 1 - use->used_share);
    }
}

/* What is free of a model, for each size of request that was made. */
static void draw_requests(pace_node *section, const pace_cluster *cluster, const pace_capacity *c) {
    static const char *const parts[] = {"usable", "lost"};
    for (int kind = PACE_REQUEST_PART; kind < PACE_REQUESTS; kind++) {
        char title[96];
        if (c->requests[kind].pods == 0) continue;
        snprintf(title, sizeof title, "Free GPUs when busiest, for a request of: %s", pace_request_names[kind]);
        pace_node *chart = pace_node_stacks(section, title, parts, 2);
        for (size_t m = 0; m < cluster->models.count; m++) {
            const pace_model_use *use = &c->models[m];
            if (!(use->free > 0)) continue;
            pace_chart_curve(chart, PACE_CURVE_LINE, "%s", cluster->models.items[m]);
            pace_chart_point(chart, 0, 1 - use->lost_shares[kind]);
            pace_chart_point(chart, 1, use->lost_shares[kind]);
        }
    }
}

static void draw_time(pace_node *section, const pace_capacity *c) {
    pace_node *chart = pace_node_chart(section, "Over time", "days; share", 0);
    pace_chart_curve(chart, PACE_CURVE_LINE, "used, of all GPUs");
    for (size_t i = 0; i < c->instant_count; i++)
        pace_chart_point(chart, (c->instants[i].time_s - c->instants[0].time_s) / 86400, c->instants[i].used_share);
    pace_chart_curve(chart, PACE_CURVE_LINE, "lost to the average request, of free GPUs");
    for (size_t i = 0; i < c->instant_count; i++)
        if (c->instants[i].free > 0)
            pace_chart_point(chart, (c->instants[i].time_s - c->instants[0].time_s) / 86400, c->instants[i].lost_share);
}

static void draw_filling(pace_node *section, const pace_capacity *c) {
    pace_node *chart =
        pace_node_chart(section, "If all pods had arrived and none had left", "GPUs asked for, of all; share", 0);
    pace_chart_curve(chart, PACE_CURVE_LINE, "used, of all GPUs");
    for (size_t i = 0; i < c->filling_count; i++)
        pace_chart_point(chart, c->filling[i].asked_share, c->filling[i].used_share);
    pace_chart_curve(chart, PACE_CURVE_LINE, "lost to the average request, of all GPUs");
    for (size_t i = 0; i < c->filling_count; i++)
        pace_chart_point(chart, c->filling[i].asked_share, c->filling[i].lost_of_all_share);
    pace_chart_curve(chart, PACE_CURVE_LINE, "lost, of free GPUs");
    for (size_t i = 0; i < c->filling_count; i++)
        if (c->filling[i].free > 0) pace_chart_point(chart, c->filling[i].asked_share, c->filling[i].lost_share);
}

void pace_put_capacity_charts(pace_node *root, const pace_cluster *cluster, const pace_capacity *capacity) {
    pace_node *section = pace_node_object(root, "pictures", "Pictures", PACE_FOR_PEOPLE);
    draw_use(section, cluster, capacity);
    draw_models(section, cluster, capacity);
    draw_requests(section, cluster, capacity);
    draw_filling(section, capacity);
    draw_time(section, capacity);
}
