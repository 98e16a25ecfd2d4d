#include "step/graph_lanes.h"

typedef uint32_t (*lane_fn)(const pace_graph *graph, uint32_t number);

static uint32_t thread_of_node(const pace_graph *graph, uint32_t number) { return graph->nodes.items[number].thread; }

static uint32_t thread_of_launch(const pace_graph *graph, uint32_t number) {
    return graph->nodes.items[graph->launches.items[number].node].thread;
}

static uint32_t stream_of_launch(const pace_graph *graph, uint32_t number) {
    return graph->launches.items[number].stream;
}

/* Counts, then puts each number where its lane's part begins. */
static pace_status list(pace_lane_lists *out, const pace_graph *graph, size_t lanes, size_t count, lane_fn lane) {
    if (!PACE_MAKE(out->first, lanes + 2) || !PACE_MAKE(out->items, count + 1)) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) out->first[lane(graph, i) + 2]++;
    for (size_t i = 2; i < lanes + 2; i++) out->first[i] += out->first[i - 1];
    for (uint32_t i = 0; i < count; i++) out->items[out->first[lane(graph, i) + 1]++] = i;
    return PACE_OK;
}

pace_status pace_graph_lanes_of(pace_graph_lanes *out, const pace_graph *graph) {
    *out = (pace_graph_lanes){0};
    PACE_TRY(list(&out->nodes, graph, graph->thread_count, graph->nodes.count, thread_of_node));
    PACE_TRY(list(&out->launches, graph, graph->thread_count, graph->launches.count, thread_of_launch));
    return list(&out->kernels, graph, graph->stream_count, graph->launches.count, stream_of_launch);
}

void pace_graph_lanes_free(pace_graph_lanes *lanes) {
    pace_lane_lists *const all[] = {&lanes->nodes, &lanes->launches, &lanes->kernels};
    for (size_t i = 0; i < PACE_COUNT(all); i++) {
        PACE_FREE(all[i]->first, all[i]->items);
    }
    *lanes = (pace_graph_lanes){0};
}
