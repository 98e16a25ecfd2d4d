/* Recorded exchanges over faster links, of fewer bytes, or by another algorithm of the library: priced by the closed
 * forms of the machine's links (forecast/exchange_links.h). */
#include "base/decimal.h"
#include "base/pattern.h"
#include "exchange/algorithms.h"
#include "forecast/exchange_links.h"

static pace_status parse_factor(pace_scenario *scenario, const char *what_if, const char *text) {
    const double least = 0.01, most = 100;
    double factor;
    if (!pace_number_parse(&factor, text) || !(factor >= least) || !(factor <= most))
        return pace_fail(PACE_E_USAGE, "%s: expected a factor from %g to %g, found '%.80s'", what_if, least, most,
                         text);
    return pace_scenario_put(scenario, what_if, factor);
}

static pace_status parse_links(pace_scenario *scenario, const char *text) {
    return parse_factor(scenario, "links", text);
}

static pace_status parse_bytes(pace_scenario *scenario, const char *text) {
    return parse_factor(scenario, "exchange_bytes", text);
}

/* The algorithm whose name matches, of those that the library of these links has; the textbook's are rows of a table of
 * their own, and have no names of NCCL's. */
static pace_status find_algorithm(int *out, const pace_link_prices *prices, const pace_scenario_value *named) {
    pace_exchange opened;
    PACE_TRY(pace_exchange_open(&opened, prices->catalog, &prices->links.machine, PACE_LIBRARY_AUTO, NULL));
    bool of_nccl = opened.library == PACE_LIBRARY_NCCL;
    size_t count = of_nccl ? PACE_NCCL_ALGORITHMS : pace_exchange_algorithm_count;
    for (size_t i = 0; i < count; i++) {
        const char *name = of_nccl ? pace_nccl_algorithm_names[i] : pace_exchange_algorithms[i].name;
        if (!pace_pattern_fits(&named->name, name)) continue;
        *out = (int)i;
        return PACE_OK;
    }
    return pace_exchange_name_algorithm(out, &opened, ""); /* fails, and lists them */
}

/* What every exchange becomes. */
typedef struct {
    double bytes, faster;
    int algorithm;
    bool of_sums; /* of all-reduces alone */
} change;

static bool is_sum(const pace_graph *graph, const pace_graph_exchange *exchange) {
    pace_collective collective;
    return pace_collective_find(&collective, pace_names_text(&graph->names, exchange->collective)) &&
           (collective == PACE_ALLREDUCE || collective == PACE_REDUCESCATTER);
}

static size_t change_rank(const pace_editing *e, size_t rank, pace_link_prices *prices, const change *to) {
    pace_variant *variant = &e->variants[rank];
    size_t changed = 0;
    for (uint32_t i = 0; i < variant->graph.launches.count; i++) {
        const pace_graph_exchange *exchange = pace_graph_exchange_of(&variant->graph, i);
        if (!exchange || (to->of_sums && !is_sum(&variant->graph, exchange))) continue;
        pace_link_case then = {exchange->bytes * to->bytes, to->faster, to->algorithm};
        changed += pace_link_reprice(variant, i, pace_editing_measured_ns(e, rank, i), prices, prices, &then);
    }
    return changed;
}

/* The exchanges of all ranks; returns how many. */
static size_t change_all(pace_editing *e, pace_link_prices *prices, const change *to) {
    size_t changed = 0;
    for (size_t r = 0; r < e->count; r++) changed += change_rank(e, r, prices, to);
    return changed;
}

static pace_status apply_links(pace_editing *e, size_t *changed) {
    pace_link_prices prices;
    PACE_TRY(pace_link_prices_open(&prices, e, "links"));
    change to = {1, pace_scenario_value_at(e->scenario, "links", 0)->number, PACE_ANY, false};
    *changed = change_all(e, &prices, &to);
    return PACE_OK;
}

static pace_status apply_bytes(pace_editing *e, size_t *changed) {
    pace_link_prices prices;
    PACE_TRY(pace_link_prices_open(&prices, e, "exchange_bytes"));
    change to = {pace_scenario_value_at(e->scenario, "exchange_bytes", 0)->number, 1, PACE_ANY, true};
    *changed = change_all(e, &prices, &to);
    return PACE_OK;
}

static pace_status apply_algorithm(pace_editing *e, size_t *changed) {
    pace_link_prices prices;
    change to = {1, 1, PACE_ANY, false};
    PACE_TRY(pace_link_prices_open(&prices, e, "exchange_algorithm"));
    PACE_TRY(find_algorithm(&to.algorithm, &prices, pace_scenario_value_at(e->scenario, "exchange_algorithm", 0)));
    *changed = change_all(e, &prices, &to);
    return PACE_OK;
}

#define NOTHING_TOLD(what) \
    "no " what " of the recording says how many bytes how many ranks exchange (NCCL's metadata, PyTorch 2.2 or newer)"

const pace_what_if pace_if_links = {
    .option =
        PACE_WHAT_IF_VALUES("links", "FACTOR", "recorded exchanges over links FACTOR times as fast", NULL, " step "),
    .acts_on = 1U << PACE_ADVICE_NETWORK,
    .label = "links %s times as fast",
    .alone = true,
    .parse = parse_links,
    .turn = PACE_TURN_SIZE,
    .apply = apply_links,
    .edits_kernels = true,
    .idle = NOTHING_TOLD("exchange"),
    .needs_change = true,
    .assumption =
        "Links: of a recorded exchange what the closed form of its links explains becomes shorter; what it took "
        "longer is taken to be waiting, and stays.",
};

const pace_what_if pace_if_exchange_bytes = {
    .option = PACE_WHAT_IF_VALUES("exchange_bytes", "FACTOR", "sums over ranks of FACTOR times as many bytes", NULL,
                                  " step "),
    .acts_on = 1U << PACE_ADVICE_NETWORK,
    .label = "%s of the bytes summed",
    .alone = true,
    .parse = parse_bytes,
    .turn = PACE_TURN_SIZE,
    .apply = apply_bytes,
    .edits_kernels = true,
    .idle = NOTHING_TOLD("sum over ranks"),
    .needs_change = true,
    .assumption = "Bytes summed: turning gradients into fewer bytes and back costs nothing.",
};

const pace_what_if pace_if_exchange_algorithm = {
    .option = PACE_WHAT_IF_VALUES("exchange_algorithm", "REGEX", "recorded exchanges by another algorithm (ring, tree)",
                                  NULL, " step "),
    .acts_on = 1U << PACE_ADVICE_NETWORK,
    .label = "exchanges by %s",
    .alone = true,
    .turn = PACE_TURN_SIZE,
    .apply = apply_algorithm,
    .edits_kernels = true,
    .idle = NOTHING_TOLD("exchange"),
    .needs_change = true,
    .assumption = "Algorithm: recorded exchanges are taken to use what the library chooses on these links.",
};
