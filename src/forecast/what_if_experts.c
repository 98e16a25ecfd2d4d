/*
 * Work of experts spread evenly over ranks: the k-th grouped product (or what a regular expression names) takes on
 * every rank what it takes on average, and all-to-alls move on every rank what they move on average. Ranks that come
 * late to the next exchange are then late no longer.
 */
#include "base/pattern.h"
#include "forecast/what_ifs.h"

#include <string.h>

typedef PACE_VEC(uint32_t) launch_list;

/* The kernel, an operator or annotation that it is issued in, or its module is so named. */
static bool is_named(const pace_graph *graph, uint32_t launch, const regex_t *names) {
    if (pace_pattern_fits(names, pace_names_text(&graph->names, graph->launches.items[launch].name))) return true;
    for (uint32_t n = graph->launches.items[launch].node; n != PACE_NO_NODE; n = graph->nodes.items[n].parent)
        if (pace_pattern_fits(names, pace_names_text(&graph->names, graph->nodes.items[n].name)) ||
            pace_pattern_fits(names, pace_names_text(&graph->names, graph->nodes.items[n].module)))
            return true;
    return false;
}

static pace_status list_work(launch_list *out, const pace_variant *variant, const regex_t *names) {
    for (uint32_t i = 0; i < variant->graph.launches.count; i++)
        if (!variant->graph.launches.items[i].exchange && is_named(&variant->graph, i, names))
            PACE_TRY(PACE_PUSH(out, i));
    return PACE_OK;
}

static void set_ns(pace_editing *e, size_t rank, uint32_t launch, double ns) {
    pace_variant *variant = &e->variants[rank];
    double now = pace_editing_measured_ns(e, rank, launch);
    if (!(now > 0)) return;
    variant->launches[launch].slower *= ns / now;
    pace_variant_assume(variant, launch, PACE_DOUBT_BALANCED_TABLES,
                        variant->doubts->figure[PACE_DOUBT_BALANCED_TABLES]);
}

/* Where every rank launches the same work in the same order, each takes the mean of the ranks'. */
static void even_one_by_one(pace_editing *e, const launch_list *lists) {
    for (size_t k = 0; k < lists[0].count; k++) {
        double sum = 0;
        for (size_t r = 0; r < e->count; r++) sum += pace_editing_measured_ns(e, r, lists[r].items[k]);
        for (size_t r = 0; r < e->count; r++) set_ns(e, r, lists[r].items[k], sum / (double)e->count);
    }
}

static double sum_of(const pace_editing *e, size_t rank, const launch_list *list) {
    double sum = 0;
    for (size_t i = 0; i < list->count; i++) sum += pace_editing_measured_ns(e, rank, list->items[i]);
    return sum;
}

/* Else all of a rank's grows or shrinks to the mean of the ranks' sums. */
static void even_in_sum(pace_editing *e, const launch_list *lists) {
    double mean = 0;
    for (size_t r = 0; r < e->count; r++) mean += sum_of(e, r, &lists[r]) / (double)e->count;
    for (size_t r = 0; r < e->count; r++) {
        double sum = sum_of(e, r, &lists[r]);
        for (size_t i = 0; sum > 0 && i < lists[r].count; i++)
            set_ns(e, r, lists[r].items[i], pace_editing_measured_ns(e, r, lists[r].items[i]) * mean / sum);
    }
}

static pace_status even_work(size_t *changed, pace_editing *e, const regex_t *names) {
    launch_list *lists = pace_alloc(e->count + 1, sizeof *lists);
    pace_status status = lists ? PACE_OK : PACE_E_MEMORY;
    bool alike = true;
    for (size_t r = 0; status == PACE_OK && r < e->count; r++) {
        status = list_work(&lists[r], &e->variants[r], names);
        alike = alike && lists[r].count == lists[0].count;
        *changed += lists[r].count;
    }
    if (status == PACE_OK && alike) even_one_by_one(e, lists);
    else if (status == PACE_OK) even_in_sum(e, lists);
    for (size_t r = 0; lists && r < e->count; r++) PACE_VEC_FREE(&lists[r]);
    pace_free(lists);
    return status;
}

/* What the ranks of a meeting put into it. */
typedef struct {
    double most, sum;
    size_t ranks;
} put_in;

static size_t count_meetings(const pace_editing *e) {
    int32_t most = 0;
    for (size_t r = 0; r < e->count; r++)
        for (size_t i = 0; i < e->variants[r].graph.exchanges.count; i++)
            if (e->variants[r].graph.exchanges.items[i].meeting > most)
                most = e->variants[r].graph.exchanges.items[i].meeting;
    return (size_t)most + 1;
}

static bool meets(const pace_graph *graph, uint32_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, launch);
    return exchange && exchange->meeting > 0 && exchange->bytes > 0 &&
           strcmp(pace_names_text(&graph->names, exchange->collective), "alltoall") == 0;
}

static void add_up(put_in *all, const pace_graph *graph) {
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        if (!meets(graph, i)) continue;
        const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, i);
        put_in *of = &all[exchange->meeting];
        of->most = exchange->bytes > of->most ? exchange->bytes : of->most;
        of->sum += exchange->bytes;
        of->ranks++;
    }
}

/* One is over when the rank that moves most has moved it. */
static void even_alltoalls(const put_in *all, pace_variant *variant) {
    pace_graph *graph = &variant->graph;
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        if (!meets(graph, i)) continue;
        pace_graph_exchange *exchange = &graph->exchanges.items[graph->launches.items[i].exchange - 1];
        const put_in *of = &all[exchange->meeting];
        exchange->bytes = of->sum / (double)of->ranks;
        if (!(exchange->bytes < of->most)) continue;
        variant->launches[i].more *= exchange->bytes / of->most;
        pace_variant_assume(variant, i, PACE_DOUBT_BALANCED_TABLES,
                            variant->doubts->figure[PACE_DOUBT_BALANCED_TABLES]);
    }
}

static pace_status even_exchanges(pace_editing *e) {
    put_in *all = pace_alloc(count_meetings(e), sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t r = 0; r < e->count; r++) add_up(all, &e->variants[r].graph);
    for (size_t r = 0; r < e->count; r++) even_alltoalls(all, &e->variants[r]);
    pace_free(all);
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *changed) {
    const pace_scenario_value *named = pace_scenario_value_at(e->scenario, "balance_experts", 0);
    if (e->count < 2 || !e->forecast->measured)
        return pace_fail(
            PACE_E_INPUT,
            "balance_experts: %s: expected recordings of at least two ranks: one alone does not show who has "
            "more work",
            e->ranks[0].name);
    PACE_TRY(even_work(changed, e, &named->name));
    return even_exchanges(e);
}

const pace_what_if pace_if_balance_experts = {
    .option = PACE_WHAT_IF_VALUES("balance_experts", "REGEX", "spread work whose name matches evenly over ranks", NULL,
                                  " step "),
    .acts_on =
        1U << PACE_ADVICE_BALANCE | 1U << PACE_ADVICE_NETWORK | 1U << PACE_ADVICE_COMPUTE | 1U << PACE_ADVICE_MEMORY,
    .label = "%s spread evenly",
    .alone = true,
    .turn = PACE_TURN_BALANCE,
    .apply = apply,
    .edits_kernels = true,
    .idle = "no kernel, operator or module has a matching name",
    .needs_change = true,
    .by_name = true,
    .assumption =
        "Balanced experts: the k-th kernel so named takes on every rank the mean of all; as much is done in all.",
};
