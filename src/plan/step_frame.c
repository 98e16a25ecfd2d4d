#include "plan/step_frame.h"

#include "forecast/forecast.h"

pace_config pace_step_frame_config(const pace_framework *framework, const pace_config *config) {
    pace_config framed = *config;
    framed.gradients = PACE_GRADIENTS_IN_PLACE;
    framed.update = PACE_UPDATE_FUSED;
    framed.sorts_on_host = framework->dispatch_s > 0;
    if (!(framework->overlap_gradients > 0)) framed.bucket_bytes = INT32_MAX; /* one exchange */
    return framed;
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

static void widen_gradients(pace_graph *graph, double share) {
    for (size_t i = 0; share > 1 && i < graph->exchanges.count; i++)
        if (graph->exchanges.items[i].role == PACE_ROLE_GRADIENT) graph->exchanges.items[i].bytes *= share;
}

/* States are read and written, parameters written: half each way, as far as a rate of both is concerned. */
static void widen_updates(pace_graph *graph, double parameter_bytes) {
    for (size_t i = 0; parameter_bytes > 0 && i < graph->ops.count; i++) {
        pace_op *op = &graph->ops.items[i];
        if (op->family == PACE_OP_OPTIMIZER) op->read_bytes = op->write_bytes = op->size[0] * parameter_bytes / 2;
    }
}

static const char between_steps[] = "between steps", adapter_call[] = "adapter";

static pace_status name_adapters(pace_graph *graph) {
    PACE_ITEMS (pace_launch, launch, &graph->launches)
        if (launch->adapts && !launch->call)
            PACE_TRY(pace_names_add(&launch->call, &graph->names, adapter_call, sizeof adapter_call - 1));
    return PACE_OK;
}

static pace_status add_call(pace_graph *graph, const char *name, uint32_t behind) {
    uint32_t node;
    PACE_TRY(pace_graph_add_node(&node, graph, PACE_TASK_CALL, name, PACE_NO_NODE, 0));
    graph->nodes.items[node].stage = PACE_STAGE_OTHER;
    graph->nodes.items[node].waits_launch = behind;
    return PACE_OK;
}

/* The host waits for the step, then reads its loss and norm, logs, and fetches what comes next. */
static pace_status end_step(pace_graph *graph) {
    uint32_t last = PACE_NO_LAUNCH;
    for (uint32_t i = 0; i < graph->launches.count; i++)
        if (graph->launches.items[i].stream == 0) last = i;
    PACE_TRY(add_call(graph, "cudaDeviceSynchronize", last));
    return add_call(graph, between_steps, PACE_NO_LAUNCH);
}

pace_status pace_step_frame_graph(pace_graph *graph, const pace_framework *framework, const pace_config *config) {
    double own = pace_config_parameter_bytes(config);
    widen_gradients(graph, framework->gradient_bytes / own);
    widen_updates(graph, framework->update_bytes);
    PACE_TRY(name_adapters(graph));
    PACE_TRY(end_step(graph));
    return pace_graph_check(graph);
}

/* --- the forecast ------------------------------------------------------------------------------------------------- */

static pace_status host_of(pace_host_costs *costs, const pace_framework *framework) {
    const double launch_s = framework->launch_s;
    const struct {
        const char *call;
        double s;
    } calls[] = {{"cudaLaunchKernel", launch_s},    {"cudaMemcpyAsync", launch_s},
                 {"cudaGraphLaunch", launch_s},     {"dispatch", launch_s + framework->dispatch_s},
                 {"cudaDeviceSynchronize", 0},      {adapter_call, framework->adapter_launch_s},
                 {between_steps, framework->step_s}};
    for (size_t i = 0; i < PACE_COUNT(calls); i++)
        PACE_TRY(pace_host_costs_add(costs, PACE_T4, calls[i].call, (pace_host_cost){calls[i].s * 1e9, 0, 1}));
    return PACE_OK;
}

pace_status pace_step_frame_forecast(pace_forecast *forecast, const pace_framework *framework) {
    pace_host_costs costs;
    PACE_TRY(pace_host_costs_init(&costs));
    pace_status status = host_of(&costs, framework);
    if (status == PACE_OK) status = pace_forecast_share_costs(forecast, &costs);
    pace_host_costs_free(&costs);
    /* where the host waits for a kernel, the next comes so much later; what it waits for exchanges is not walked */
    double between_ns = framework->launches_wait > 0 ? framework->launch_s * 1e9 : 0;
    for (size_t i = 0; i < forecast->ranks.count; i++) forecast->ranks.items[i].launch.between_ns = between_ns;
    double *hidden = forecast->shares.hidden_exchange;
    hidden[PACE_GROUP_TENSOR] = framework->overlap_tensor;
    hidden[PACE_GROUP_CONTEXT] = framework->overlap_context;
    hidden[PACE_GROUP_EXPERT] = framework->overlap_expert;
    hidden[PACE_GROUP_PIPELINE] = framework->overlap_pipeline;
    return status;
}
