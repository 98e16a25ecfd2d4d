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

static pace_status read_host(pace_step_host **out, pace_catalog *catalog, int execution, const char *vendor) {
    pace_step_host *host = pace_alloc(1, sizeof *host);
    if (!host) return PACE_E_MEMORY;
    host->execution = execution;
    snprintf(host->vendor, sizeof host->vendor, "%s", vendor);
    pace_status status = pace_host_costs_init(&host->costs);
    if (status != PACE_OK) {
        pace_free(host);
        return status;
    }
    status = pace_host_costs_default(&host->costs, &host->launch, catalog, pace_execution_modes[execution], vendor);
    return PACE_GIVE(out, host, status, free_host(host));
}

pace_status pace_step_hosts_get(const pace_step_host **out, pace_catalog *catalog, pace_step_hosts *hosts,
                                int execution, const char *vendor) {
    pace_step_host *host;
    for (size_t i = 0; i < hosts->items.count; i++) {
        const pace_step_host *known = hosts->items.items[i];
        if (known->execution != execution || strcmp(known->vendor, vendor) != 0) continue;
        *out = known;
        return PACE_OK;
    }
    PACE_TRY(read_host(&host, catalog, execution, vendor));
    pace_status status = PACE_PUSH(&hosts->items, host);
    return PACE_GIVE(out, host, status, free_host(host));
}

static double host_end_ns(const pace_step *step) {
    int64_t last = 0;
    for (size_t i = 0; i < step->count; i++) {
        int64_t end = step->start_ns[i] + step->duration_ns[i];
        if (!pace_task_on_device(step->kind[i]) && end > last) last = end;
    }
    return (double)last;
}

pace_status pace_step_host_s(double *out_s, const pace_step_host *host, const pace_graph *graph) {
    *out_s = 0;
    if (host->execution == PACE_CUDA_GRAPH || graph->nodes.count == 0) return PACE_OK;
    double *launch_ns = pace_alloc(graph->launches.count + 1, sizeof *launch_ns);
    if (!launch_ns) return PACE_E_MEMORY;
    pace_walk_rank rank = {.graph = graph, .launch_ns = launch_ns, .costs = &host->costs};
    pace_walk_options options = {.repeats = 1};
    pace_step step;
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) options.scale[type] = 1;
    pace_status status = pace_walk(&step, &rank, 1, &options);
    pace_free(launch_ns);
    if (status != PACE_OK) return status;
    *out_s = host_end_ns(&step) / 1e9;
    pace_step_free(&step);
    return PACE_OK;
}
