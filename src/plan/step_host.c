#include "plan/step_host.h"

#include "cost/host_costs_catalog.h"
#include "schedule/walk.h"

#include <stdio.h>
#include <string.h>

static void free_host(pace_step_host *host) {
    pace_host_costs_free(&host->costs);
    pace_free(host);
}

void pace_step_hosts_free(pace_step_hosts *hosts) {
    for (size_t i = 0; i < hosts->items.count; i++) free_host(hosts->items.items[i]);
    PACE_VEC_FREE(&hosts->items);
}

static pace_status read_host(pace_step_host **out, pace_catalog *catalog, int execution, const pace_device *device) {
    pace_step_host *host = pace_alloc(1, sizeof *host);
    if (!host) return PACE_E_MEMORY;
    host->execution = execution;
    snprintf(host->vendor, sizeof host->vendor, "%s", device->vendor);
    host->generation = device->generation;
    pace_status status = pace_host_costs_init(&host->costs);
    if (status != PACE_OK) {
        pace_free(host);
        return status;
    }
    status = pace_host_costs_default(&host->costs, &host->launch, catalog, pace_execution_modes[execution], device);
    return PACE_GIVE(out, host, status, free_host(host));
}

pace_status pace_step_hosts_get(const pace_step_host **out, pace_catalog *catalog, pace_step_hosts *hosts,
                                int execution, const pace_device *device) {
    pace_step_host *host;
    for (size_t i = 0; i < hosts->items.count; i++) {
        const pace_step_host *known = hosts->items.items[i];
        if (known->execution != execution || known->generation != device->generation) continue;
        if (strcmp(known->vendor, device->vendor) != 0) continue;
        *out = known;
        return PACE_OK;
    }
    PACE_TRY(read_host(&host, catalog, execution, device));
    pace_status status = PACE_PUSH(&hosts->items, host);
    return PACE_GIVE(out, host, status, free_host(host));
}

static pace_status walk_part(pace_walk_ends *out, const pace_step_host *host, const pace_graph *graph,
                             const double *launch_ns, double parameters) {
    pace_walk_rank rank = {.graph = graph,
                           .launch_ns = launch_ns,
                           .costs = &host->costs,
                           .parameters = parameters,
                           .launch_lag_ns = host->launch.lag_ns,
                           .between_ns = host->launch.between_ns};
    pace_walk_options options = {.repeats = 1};
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) options.scale[type] = 1;
    *out = (pace_walk_ends){0};
    if (graph->nodes.count == 0) return PACE_OK;
    return pace_walk_ends_of(out, &rank, &options);
}

pace_status pace_step_host_and_device_s(double *host_s, double *device_s, const pace_step_host *host,
                                        const pace_graph *graph, const double *launch_ns) {
    pace_walk_ends ends;
    *host_s = *device_s = 0;
    if (host->execution == PACE_CUDA_GRAPH) return PACE_OK;
    PACE_TRY(walk_part(&ends, host, graph, launch_ns, 0));
    *host_s = (double)ends.host_ns / 1e9;
    *device_s = (double)ends.device_ns / 1e9;
    return PACE_OK;
}

pace_status pace_step_host_s(double *out_s, double *gradients_s, const pace_step_host *host, const pace_graph *graph,
                             double parameters) {
    pace_walk_ends ends;
    double *launch_ns = pace_alloc(graph->launches.count + 1, sizeof *launch_ns);
    if (!launch_ns) return PACE_E_MEMORY;
    pace_status status = walk_part(&ends, host, graph, launch_ns, parameters);
    pace_free(launch_ns);
    PACE_TRY(status);
    *out_s = (double)ends.host_ns / 1e9;
    *gradients_s = (double)ends.gradients_ns / 1e9;
    return PACE_OK;
}

double pace_step_host_update_ns(const pace_config *config, const pace_exchange *exchange, const pace_doubts *doubts) {
    double ranks = pace_config_ranks(config), devices = exchange ? exchange->machine.devices : 1;
    return 1e9 * doubts->figure[PACE_DOUBT_HOST_UPDATE] * (ranks < devices ? ranks : devices);
}
