/*
 * Input fetched by worker processes, ahead of the step: each batch stands ready, or is waited for, and is handed over.
 *
 * N workers fetch N batches side by side, so that one arrives every N-th part of what fetching one takes: a lane of its
 * own does them in turn, each in that time. What the lane had left to do of the first batch when the measured steps
 * began is what a step without input leaves it to do: steps follow each other.
 */
#include "base/decimal.h"
#include "forecast/what_ifs.h"

#include <math.h>

static pace_status parse(pace_scenario *scenario, const char *text) {
    double workers;
    if (!pace_number_parse(&workers, text) || !(workers >= 1) || workers > 1e6 || workers != floor(workers))
        return pace_fail(PACE_E_USAGE, "loader: expected a number of workers from 1 to 1e6, found '%.80s'", text);
    return pace_scenario_put(scenario, "loader", workers);
}

pace_input_stretches pace_graph_stretches(const pace_graph *graph) {
    pace_input_stretches sum = {0};
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (pace_graph_node_fetches(&graph->nodes.items[i])) {
            sum.count++;
            sum.ns += (double)graph->nodes.items[i].spends_ns;
        }
    return sum;
}

static pace_status add_fetch(uint32_t *out, pace_graph *graph, uint32_t of, uint32_t thread, double ns) {
    const char *name = pace_names_text(&graph->names, graph->nodes.items[of].name);
    PACE_TRY(pace_graph_add_node(out, graph, PACE_TASK_OP, name, PACE_NO_NODE, thread));
    graph->nodes.items[*out].spends_ns = llround(ns);
    graph->nodes.items[*out].stage = graph->nodes.items[of].stage;
    return PACE_OK;
}

/* Stretches of input that take longer than `handover_ns` are fetched by `workers` processes and handed over; `steps_ns`
 * is what all of the graph's steps took. Adds the stretches to *moved. */
static pace_status load_ahead(size_t *moved, pace_variant *variant, double workers, double steps_ns,
                              double handover_ns) {
    pace_graph *graph = &variant->graph;
    pace_input_stretches input = pace_graph_stretches(graph);
    size_t count = graph->nodes.count;
    uint32_t thread = graph->thread_count;
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        double ns = (double)graph->nodes.items[i].spends_ns, each = ns / workers;
        if (!pace_graph_node_fetches(&graph->nodes.items[i]) || !(ns > handover_ns))
            continue; /* it stood ready already */
        if (first) each = fmax(0, each - (steps_ns - input.ns) / (double)input.count);
        uint32_t fetch;
        PACE_TRY(add_fetch(&fetch, graph, i, thread, each));
        graph->nodes.items[i].spends_ns = llround(handover_ns);
        graph->nodes.items[i].after = fetch;
        first = false;
        ++*moved;
    }
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *moved) {
    double handover_ns = pace_cost_doubts(e->forecast->cost)->figure[PACE_DOUBT_LOADER_HANDOVER] * 1e9;
    double workers = pace_scenario_value_at(e->scenario, "loader", 0)->number;
    for (size_t i = 0; i < e->count; i++)
        PACE_TRY(load_ahead(moved, &e->variants[i], workers, e->ranks[i].steps_ns, handover_ns));
    if (*moved) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "loader: %s: fetches no input that takes longer than handing it over, %.1f ms",
                     e->ranks[0].name, handover_ns / 1e6);
}

const pace_what_if pace_if_loader = {
    .option =
        PACE_WHAT_IF_VALUES("loader", "N", "fetch input with N worker processes, ahead of the step", NULL, " step "),
    .acts_on = 1U << PACE_ADVICE_INPUT,
    .label = "loader with %s workers",
    .alone = true,
    .of_host = true,
    .parse = parse,
    .turn = PACE_TURN_COUNT,
    .apply = apply,
    .assumption = "Loader: every worker has a core of its own, and fetches as fast as the traced thread did.",
};
