/* A forecast of graphs without times; and of a trace whose work goes from the host to a device, or back. */
#include "cost/host_costs_catalog.h"
#include "forecast/forecast.h"
#include "forecast/forecast_rank.h"
#include "step/graph_edit.h"

#include <string.h>

static pace_doubt doubt_of_catalog(const pace_device *device) {
    return device && device->is_cpu ? PACE_DOUBT_HOST_CPU : PACE_DOUBT_HOST_CATALOG;
}

static const char direct_call[] = "direct call"; /* catalog/frameworks.yaml has what it costs */

/* Between host and device. Where the host is the device nothing need be copied to where it is already. */
static bool is_transfer(const pace_graph *graph, const pace_launch *launch) {
    const pace_op *op = launch->op == PACE_NO_OP ? NULL : &graph->ops.items[launch->op];
    return op && op->family == PACE_OP_TRANSFER && !strstr(op->kind, "d2d");
}

/* On a CPU a launch is a call that returns when the work is done; but a gradient goes while backward computes on. */
static pace_status run_on_host(pace_graph *graph) {
    pace_name name;
    PACE_TRY(pace_names_add(&name, &graph->names, direct_call, sizeof direct_call - 1));
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        pace_launch *launch = &graph->launches.items[i];
        launch->call = name;
        const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, i);
        if (!exchange || exchange->role != PACE_ROLE_GRADIENT) graph->nodes.items[launch->node].waits_launch = i;
        if (is_transfer(graph, launch)) launch->duration_ns = 0;
    }
    return PACE_OK;
}

/* Those of the catalogue, which all `ranks` have. */
static pace_status take_hosts(pace_forecast_rank *rank, const pace_forecast_ranks_vec *ranks, pace_catalog *catalog,
                              const char *mode, const pace_device *device) {
    if (ranks->count) {
        rank->launch = ranks->items[0].launch;
        return pace_host_costs_copy(&rank->costs, &ranks->items[0].costs);
    }
    PACE_TRY(pace_host_costs_init(&rank->costs));
    return pace_host_costs_default(&rank->costs, &rank->launch, catalog, mode, device);
}

static pace_status add_graph(pace_forecast_ranks_vec *ranks, pace_catalog *catalog, pace_graph *graph, const char *name,
                             const pace_device *device, const char *mode) {
    pace_forecast_rank rank = {.name = name, .graph = *graph};
    size_t launches = graph->launches.count;
    bool on_host = device && device->is_cpu;
    pace_status status = on_host ? run_on_host(&rank.graph) : PACE_OK;
    if (!PACE_MAKE(rank.measured_ns, launches + 1)) status = PACE_E_MEMORY;
    for (size_t i = 0; rank.measured_ns && i < launches; i++)
        rank.measured_ns[i] = (double)graph->launches.items[i].duration_ns;
    if (on_host && (!mode || strcmp(mode, "eager") == 0)) mode = "eager-cpu";
    if (status == PACE_OK) status = take_hosts(&rank, ranks, catalog, mode, device);
    if (on_host) rank.launch = (pace_launch_costs){0};
    if (status == PACE_OK && on_host) status = pace_graph_check(&rank.graph);
    if (status == PACE_OK) status = PACE_PUSH(ranks, rank);
    if (status != PACE_OK) pace_forecast_rank_free(&rank);
    return status;
}

pace_status pace_forecast_of_graphs(pace_forecast *out, pace_catalog *catalog, pace_graph *graphs, size_t count,
                                    const char *const *names, const pace_device *device, const char *mode) {
    enum { SETTLED = 4 }; /* the device's queue carries over from one step to the next, and no further */
    pace_forecast forecast = {.catalog = catalog,
                              .device = device,
                              .repeats = SETTLED,
                              .host_doubt = doubt_of_catalog(device)};
    size_t taken = 0;
    pace_status status = pace_forecast_make_ladder(&forecast);
    for (; status == PACE_OK && taken < count; taken++)
        status = add_graph(&forecast.ranks, catalog, &graphs[taken], names[taken], device, mode);
    for (; taken < count; taken++) pace_graph_free(&graphs[taken]);
    if (status == PACE_OK && count == 1) forecast.ranks.items[0].launch.queue = 0; /* it waits for each batch */
    return PACE_GIVE(out, forecast, status, pace_forecast_free(&forecast));
}

/* Operators that did their work themselves launch it, and go on: what they took says nothing of a device. */
static size_t hand_over(pace_graph *graph) {
    size_t sized = 0;
    PACE_ITEMS (pace_launch, launch, &graph->launches) {
        launch->duration_ns = -1;
        launch->name = 0;
        graph->nodes.items[launch->node].waits_launch = PACE_NO_LAUNCH;
        const pace_op *op = launch->op == PACE_NO_OP ? NULL : &graph->ops.items[launch->op];
        sized += op && op->read_bytes + op->write_bytes > 0;
    }
    return sized;
}

pace_status pace_forecast_offload(pace_forecast *forecast, const pace_device *device, const char *mode) {
    size_t sized = 0;
    forecast->host_doubt = doubt_of_catalog(device);
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_forecast_rank *rank = &forecast->ranks.items[i];
        pace_graph graph;
        PACE_TRY(pace_graph_copy(&graph, &rank->graph));
        sized += hand_over(&graph);
        PACE_TRY(add_graph(&forecast->offloaded, forecast->catalog, &graph, rank->name, device, mode));
        forecast->offloaded.items[i].start_ns = rank->start_ns;
    }
    if (sized == 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: no operator says what it computes, so it cannot be moved to a device: record its shapes "
                         "(record_shapes=True)",
                         forecast->ranks.items[0].name);
    return PACE_OK;
}

/* Transfers go; all else takes what it took, until it is priced on the CPU. */
static pace_status keep_times(pace_forecast_rank *rank, const pace_forecast_rank *of) {
    size_t count = rank->graph.launches.count;
    if (!PACE_MAKE(rank->measured_ns, count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        rank->measured_ns[i] = is_transfer(&rank->graph, &rank->graph.launches.items[i]) ? 0 : of->measured_ns[i];
    return PACE_OK;
}

/* The rank's own host costs, and what a call of the work itself costs. */
static pace_status keep_costs(pace_forecast_rank *rank, pace_catalog *catalog, const pace_forecast_rank *of) {
    pace_host_costs usual;
    pace_launch_costs launch;
    PACE_TRY(pace_host_costs_init(&usual));
    pace_status status = pace_host_costs_default(&usual, &launch, catalog, NULL, NULL);
    if (status == PACE_OK) status = pace_host_costs_init(&rank->costs);
    if (status == PACE_OK) status = pace_host_costs_pool(&rank->costs, &of->costs);
    if (status == PACE_OK)
        status = pace_host_costs_add(&rank->costs, PACE_T4, direct_call,
                                     pace_host_costs_get(&usual, PACE_T4, direct_call, true, NULL));
    pace_host_costs_free(&usual);
    return status;
}

static pace_status onload_rank(pace_forecast *forecast, const pace_forecast_rank *of) {
    pace_forecast_rank rank = {.name = of->name, .start_ns = of->start_ns};
    PACE_TRY(pace_graph_copy(&rank.graph, &of->graph));
    pace_status status = run_on_host(&rank.graph);
    if (status == PACE_OK) status = keep_times(&rank, of);
    if (status == PACE_OK) status = keep_costs(&rank, forecast->catalog, of);
    if (status == PACE_OK) status = pace_graph_check(&rank.graph);
    if (status == PACE_OK) status = PACE_PUSH(&forecast->offloaded, rank);
    if (status != PACE_OK) pace_forecast_rank_free(&rank);
    return status;
}

pace_status pace_forecast_onload(pace_forecast *forecast) {
    forecast->host_doubt = PACE_DOUBT_HOST_CPU;
    for (size_t i = 0; i < forecast->ranks.count; i++) PACE_TRY(onload_rank(forecast, &forecast->ranks.items[i]));
    return PACE_OK;
}
