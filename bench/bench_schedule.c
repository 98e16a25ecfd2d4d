/*
 * How many tasks a second the schedule places: the event loop alone on generated segments, and the whole way from a
 * graph without times to a step with them. Also how many operations a second are priced. Processor time of one core.
 */
#include "bench_clock.h"
#include "cost/cost.h"
#include "forecast/forecast.h"
#include "schedule/replay.h"
#include "schedule/walk.h"
#include "catalog_of_tests.h"

#include <stdio.h>
#include <stdlib.h>

/* Half the segments on a host thread, each launching one of the other half on one of four streams. */
static double event_loop(uint32_t tasks) {
    enum { STREAMS = 4 };
    static const double unchanged[PACE_REPLAY_RESOURCES] = {1};
    uint32_t half = tasks / 2;
    pace_replay replay = {0};
    for (uint32_t lane = 0; lane <= STREAMS; lane++) {
        check(PACE_PUSH(&replay.lane_first, (uint32_t)replay.segments.count));
        for (uint32_t i = 0; i < (lane ? half / STREAMS : half); i++) {
            pace_segment segment = {.duration_ns = lane ? 20000 + (int64_t)(i * 2654435761u % 30000) : 9000};
            if (lane) (void)pace_segment_depend(&replay, &segment, i * STREAMS + lane - 1, 0, false);
            check(replay.short_of_memory ? PACE_E_MEMORY : PACE_OK);
            check(PACE_PUSH(&replay.segments, segment));
        }
    }
    check(PACE_PUSH(&replay.lane_first, (uint32_t)replay.segments.count));
    int64_t *start_ns = malloc(replay.segments.count * sizeof *start_ns);
    double best = 1e9;
    for (int run = 0; run < 3; run++) {
        double begin = cpu_s();
        check(pace_replay_run(&replay, unchanged, start_ns, NULL));
        double taken = cpu_s() - begin;
        if (taken < best) best = taken;
    }
    double rate = (double)replay.segments.count / best;
    free(start_ns);
    pace_replay_free(&replay);
    return rate;
}

/* Operators with some kernels each, of some hundred kinds: tasks are operators, calls and kernels. `every` = one
 * operator in so many launches. */
static void graph_of(pace_graph *graph, uint32_t operators, uint32_t every, uint32_t kernels) {
    check(pace_graph_init(graph));
    for (uint32_t i = 0; i < operators; i++) {
        pace_op op = {.family = PACE_OP_GEMM,
                      .precision = PACE_FP32,
                      .element_bytes = 4,
                      .size = {1, 64 + i % 977, 256, 512}};
        uint32_t node, launch;
        pace_op_complete(&op);
        check(pace_graph_add_node(&node, graph, PACE_TASK_OP, i % 4 ? "aten::linear" : "aten::relu", PACE_NO_NODE, 0));
        for (uint32_t k = 0; k < kernels && i % every == 0; k++)
            check(pace_graph_add_launch(&launch, graph, node, PACE_TASK_KERNEL, &op, k));
    }
}

static double walk_once(uint32_t tasks) {
    pace_graph graph;
    pace_host_costs costs;
    graph_of(&graph, tasks / 5, 1, 2);
    check(pace_host_costs_init(&costs));
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        check(pace_host_costs_add(&costs, (pace_overhead_type)type, "aten::linear", (pace_host_cost){4000, 0, 1}));
    double *ns = malloc(graph.launches.count * sizeof *ns);
    for (size_t i = 0; i < graph.launches.count; i++) ns[i] = 15000;
    pace_walk_rank rank = {
        .graph = &graph, .launch_ns = ns, .costs = &costs, .launch_lag_ns = 6000, .between_ns = 1000};
    pace_walk_options options = {.scale = {1, 1, 1, 1, 1}, .repeats = 1};
    pace_step step;
    double begin = cpu_s();
    check(pace_walk(&step, &rank, 1, &options));
    double rate = (double)step.count / (cpu_s() - begin);
    pace_step_free(&step);
    pace_host_costs_free(&costs);
    pace_graph_free(&graph);
    free(ns);
    return rate;
}

static double price(void) {
    pace_graph graph;
    pace_cost *cost;
    pace_device_catalog devices;
    graph_of(&graph, 977, 1, 1);
    check(pace_cost_create(&cost, test_catalog()));
    check(pace_device_catalog_load(&devices, test_catalog()));
    const pace_device *device = pace_device_find(&devices, "a100-40-sxm", 0);
    double sum = 0, begin = cpu_s();
    size_t priced = 0;
    for (int round = 0; round < 500; round++)
        for (size_t i = 0; i < graph.ops.count; i++, priced++) {
            pace_estimate estimate;
            check(pace_cost_op(&estimate, cost, device, &graph.ops.items[i]));
            sum += estimate.median;
        }
    double rate = (double)priced / (cpu_s() - begin);
    pace_cost_free(cost);
    pace_device_catalog_free(&devices);
    pace_graph_free(&graph);
    return sum > 0 ? rate : 0;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

enum { WALKS = 9 };

/* The median of some walks: the first touches pages that its machine has yet to find. */
static double walk(uint32_t tasks) {
    double rate[WALKS];
    for (int i = 0; i < WALKS; i++) rate[i] = walk_once(tasks);
    qsort(rate, WALKS, sizeof *rate, by_size);
    return rate[WALKS / 2];
}

enum { FORECASTS = 7 };

/* A step of 30,000 nodes, loaded: priced, walked four times over, and understood. */
static void forecast(double taken_s[FORECASTS]) {
    enum { NODES = 30000 };
    static const char *const name[] = {"generated"};
    pace_graph graph;
    pace_forecast forecast;
    pace_forecast_result result;
    pace_scenario scenario;
    pace_device_catalog devices;
    graph_of(&graph, NODES, 3, 1);
    check(pace_device_catalog_load(&devices, test_catalog()));
    const pace_device *device = pace_device_find(&devices, "a100-40-sxm", 0);
    check(pace_forecast_of_graphs(&forecast, test_catalog(), &graph, 1, name, device, "eager"));
    pace_scenario_init(&scenario, "as it is");
    for (int i = 0; i < FORECASTS; i++) {
        double begin = cpu_s();
        check(pace_forecast_run(&result, &forecast, &scenario));
        taken_s[i] = cpu_s() - begin;
        pace_forecast_result_free(&result);
    }
    pace_scenario_free(&scenario);
    pace_forecast_free(&forecast);
    pace_device_catalog_free(&devices);
}

int main(int count, char **words) {
    uint32_t tasks = count > 1 ? (uint32_t)atol(words[1]) : 10000000;
    printf("event loop          %6.1f M segments/s (budget: 20 M tasks/s)\n", event_loop(tasks) / 1e6);
    printf("graph to timeline   %6.1f M tasks/s of a million (budget: 10 M tasks/s), %.1f M of %u\n",
           walk(1000000) / 1e6, walk_once(tasks) / 1e6, tasks);
    double taken_s[FORECASTS];
    forecast(taken_s);
    double first_s = taken_s[0];
    qsort(taken_s, FORECASTS, sizeof *taken_s, by_size);
    printf("30,000-node step    %6.1f ms, the first %.1f ms (budget: 50 ms)\n", taken_s[FORECASTS / 2] * 1e3,
           first_s * 1e3);
    printf("cost                %6.1f M operations/s (budget: 5 M/s)\n", price() / 1e6);
    return 0;
}
