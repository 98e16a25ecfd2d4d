#include "ask/rows/kernel_calls.h"
#include "cost/host_costs_catalog.h"

#include <stdio.h>
#include <string.h>

static void free_host(pace_kernel_host *host) { pace_host_costs_free(&host->costs); }

void pace_kernel_calls_free(pace_kernel_calls *calls) { PACE_VEC_FREE_EACH(&calls->hosts, free_host); }

static pace_status read_host(pace_kernel_calls *calls, pace_catalog *catalog, const pace_device *device) {
    pace_kernel_host host = {.is_cpu = device->is_cpu};
    snprintf(host.vendor, sizeof host.vendor, "%s", device->vendor);
    PACE_TRY(pace_host_costs_init(&host.costs));
    pace_status status = pace_host_costs_default(&host.costs, &host.launch, catalog,
                                                 device->is_cpu ? "eager-cpu" : "eager", device->vendor);
    return status == PACE_OK ? PACE_KEEP(&calls->hosts, host, free_host(&host)) : (free_host(&host), status);
}

static pace_status host_of(const pace_kernel_host **out, pace_kernel_calls *calls, pace_catalog *catalog,
                           const pace_device *device) {
    for (size_t i = 0; i < calls->hosts.count; i++) {
        *out = &calls->hosts.items[i];
        if ((*out)->is_cpu == device->is_cpu && strcmp((*out)->vendor, device->vendor) == 0) return PACE_OK;
    }
    if (calls->hosts.count == 0) PACE_TRY(pace_doubts_load(&calls->doubts, catalog));
    PACE_TRY(read_host(calls, catalog, device));
    *out = &calls->hosts.items[calls->hosts.count - 1];
    return PACE_OK;
}

pace_status pace_kernel_calls_add(pace_estimate *time_s, pace_kernel_calls *calls, pace_catalog *catalog,
                                  const pace_device *device, const char *op) {
    const pace_kernel_host *host;
    PACE_TRY(host_of(&host, calls, catalog, device));
    double ns = pace_host_costs_get(&host->costs, PACE_T2, *op ? op : NULL, true, NULL).mean_ns + host->launch.lag_ns;
    double call_s = ns * 1e-9,
           spread = calls->doubts.figure[device->is_cpu ? PACE_DOUBT_HOST_CPU : PACE_DOUBT_HOST_CATALOG];
    double kernel_s = time_s->median;
    time_s->median = kernel_s + call_s;
    time_s->spread = hypot(kernel_s * time_s->spread, call_s * spread) / time_s->median;
    return PACE_OK;
}
