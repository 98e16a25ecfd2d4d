/* The host costs of a forecast: shared ones in place of its own, and how close they are to what was measured. */
#include "forecast/forecast.h"

static pace_status share(pace_forecast_rank *rank, const pace_host_costs *costs) {
    pace_host_costs copy;
    PACE_TRY(pace_host_costs_init(&copy));
    pace_status status = pace_host_costs_pool(&copy, costs);
    if (status != PACE_OK) {
        pace_host_costs_free(&copy);
        return status;
    }
    pace_host_costs_free(&rank->costs);
    rank->costs = copy;
    for (size_t i = 0; i < rank->graph.nodes.count; i++) rank->graph.nodes.items[i].pause_ns = 0;
    return PACE_OK;
}

pace_status pace_forecast_share_costs(pace_forecast *forecast, const pace_host_costs *costs) {
    forecast->host_doubt = PACE_DOUBT_HOST_SHARED;
    pace_forecast_ranks_vec *on_device = forecast->offloaded.count ? &forecast->offloaded : &forecast->ranks;
    for (size_t i = 0; i < on_device->count; i++) PACE_TRY(share(&on_device->items[i], costs));
    return PACE_OK;
}

typedef struct {
    const pace_forecast_rank *rank;
    uint8_t *level; /* name * 2 + launching -> level + 1, 0 = not yet looked up */
    bool *launches; /* node: it or what is under it */
} survey;

/* The overhead that stands for an operator: T2 of one that launches, T5 of one that does not. */
static pace_host_level level_of(survey *s, const pace_graph_node *node, bool launching) {
    uint8_t *known = &s->level[2 * (size_t)node->name + launching];
    if (!*known) {
        pace_host_level level;
        const char *name = pace_names_text(&s->rank->graph.names, node->name);
        pace_host_costs_get(&s->rank->costs, launching ? PACE_T2 : PACE_T5, name, launching, &level);
        *known = (uint8_t)(level + 1);
    }
    return (pace_host_level)(*known - 1);
}

static uint32_t node_of(const pace_graph *graph, uint32_t launch) {
    return launch < graph->launches.count ? graph->launches.items[launch].node : (uint32_t)graph->nodes.count;
}

/* Operators of a round that was left out count as often more. */
static void take_rank(size_t out[PACE_HOST_LEVELS], survey *s, uint32_t left_out) {
    const pace_graph *graph = &s->rank->graph;
    const uint32_t first = node_of(graph, s->rank->round.first), end = node_of(graph, s->rank->round.last);
    for (size_t i = 0; i < graph->launches.count; i++) s->launches[graph->launches.items[i].node] = true;
    for (size_t i = graph->nodes.count; i-- > 0;) { /* children stand behind their parents */
        const pace_graph_node *node = &graph->nodes.items[i];
        if (node->parent != PACE_NO_NODE && s->launches[i]) s->launches[node->parent] = true;
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const pace_graph_node *node = &graph->nodes.items[i];
        bool top = node->parent == PACE_NO_NODE || graph->nodes.items[node->parent].kind == PACE_TASK_ANNOTATION;
        if (top && node->kind == PACE_TASK_OP && node->spends_ns < 0)
            out[level_of(s, node, s->launches[i])] += i >= first && i < end ? 1 + left_out : 1;
    }
}

pace_status pace_forecast_host_levels(size_t out[PACE_HOST_LEVELS], const pace_forecast *forecast) {
    size_t levels[PACE_HOST_LEVELS] = {0};
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_forecast_rank *rank =
            forecast->offloaded.count ? &forecast->offloaded.items[i] : &forecast->ranks.items[i];
        const pace_graph *graph = &rank->graph;
        survey s = {.rank = rank};
        bool made = PACE_MAKE(s.level, 2 * pace_names_count(&graph->names) + 1) &&
                    PACE_MAKE(s.launches, graph->nodes.count + 1);
        if (made) take_rank(levels, &s, forecast->folded);
        PACE_FREE(s.level, s.launches);
        if (!made) return PACE_E_MEMORY;
    }
    for (int level = 0; level < PACE_HOST_LEVELS; level++) out[level] = levels[level];
    return PACE_OK;
}
