#include "forecast/exchange_links.h"

#include <math.h>
#include <string.h>

static pace_status no_links(const pace_editing *e, const char *what_if) {
    return pace_fail(
        PACE_E_MISSING,
        "%s: %s: the catalogue knows no machine with its device, so what its links explain is not known: name "
        "one with " PACE_FIELD "on, as dgx-h100",
        what_if, e->ranks[0].name);
}

pace_status pace_link_prices_open(pace_link_prices *out, const pace_editing *e, const char *what_if) {
    const pace_analysis *measured = e->forecast->measured;
    pace_link_prices prices = {.catalog = e->forecast->catalog};
    if (!measured)
        return pace_fail(PACE_E_USAGE, "%s: asked of a recorded step; of a model word the machine (" PACE_FIELD "on)",
                         what_if);
    const pace_rank *rank = pace_rank_trace(pace_analysis_slowest(measured));
    const pace_machine *asked = e->scenario->has_exchange ? &e->scenario->machine : pace_asked_machine(measured);
    PACE_TRY(pace_link_machine_choose(&prices.links, rank, asked, prices.catalog));
    if (prices.links.machine.devices == 0) return no_links(e, what_if);
    *out = prices;
    return PACE_OK;
}

static void speed_up(pace_link *link, double factor) { link->bytes_per_s *= factor; }

/* All links that exchanges use; latencies stay. */
static void speed_up_machine(pace_machine *machine, double factor) {
    speed_up(&machine->inside, factor);
    speed_up(&machine->between, factor);
    machine->brick_bytes_per_s *= factor;
    machine->pcie_bytes_per_s *= factor;
    machine->stream_bytes_per_s *= factor;
    machine->host.nic_bytes_per_s *= factor;
    for (int i = 0; i < machine->host.count; i++) machine->host.bytes_per_s[i] *= factor;
}

/* Where a group sits, and what it asks. False: not known, or more than the machine can be made to hold. */
static bool question_of(pace_exchange_question *out, pace_machine *machine, const pace_graph *graph,
                        const pace_graph_exchange *exchange, double bytes) {
    const char *name = pace_names_text(&graph->names, exchange->collective);
    int64_t size = exchange->group_size > 0 ? exchange->group_size : graph->world_size;
    bool point = strcmp(name, "send") == 0 || strcmp(name, "recv") == 0;
    pace_exchange_question question = {.algorithm = PACE_ANY, .protocol = PACE_ANY, .bytes = bytes};
    if (point) size = 2;
    if (size < 2 || size > 1 << 20 || !(bytes > 0)) return false;
    if (!pace_collective_find(&question.collective, point ? "sendrecv" : name)) return false;
    if (pace_collective_rows[question.collective].of_parts) question.bytes *= (double)size;
    question.nodes = machine->nodes = pace_link_machine_nodes(machine, size, "");
    question.ranks_per_node = (int)((size + question.nodes - 1) / question.nodes);
    *out = question;
    return question.ranks_per_node <= machine->devices;
}

/* A recording has thousands of exchanges of few sorts of groups; links are opened once for each. NULL: they cannot
 * be. */
static const pace_exchange *open_links(pace_link_prices *prices, const pace_machine *machine, double faster) {
    size_t held = prices->opened_count < PACE_LINKS_OPENED ? prices->opened_count : PACE_LINKS_OPENED;
    for (size_t i = 0; i < held; i++)
        if (prices->opened[i].nodes == machine->nodes && prices->opened[i].faster == faster)
            return &prices->opened[i].exchange;
    pace_link_opened *opened = &prices->opened[prices->opened_count % PACE_LINKS_OPENED];
    pace_machine sped_up = *machine;
    pace_exchange exchange;
    speed_up_machine(&sped_up, faster);
    if (pace_exchange_open(&exchange, prices->catalog, &sped_up, PACE_LIBRARY_AUTO, NULL) != PACE_OK) return NULL;
    *opened = (pace_link_opened){machine->nodes, faster, exchange};
    prices->opened_count++;
    return &opened->exchange;
}

bool pace_link_price(pace_estimate *out_ns, pace_link_prices *prices, const pace_graph *graph,
                     const pace_graph_exchange *exchange, const pace_link_case *what) {
    pace_machine machine = prices->links.machine;
    pace_exchange_question question;
    if (!question_of(&question, &machine, graph, exchange, what->bytes)) return false;
    question.algorithm = what->algorithm;
    const pace_exchange *links = open_links(prices, &machine, what->faster);
    if (!links || pace_exchange_time(out_ns, links, &question) != PACE_OK) return false;
    pace_estimate_scale(out_ns, 1e9);
    return out_ns->median > 0;
}

double pace_link_explained_ns(const pace_graph_exchange *exchange, double measured_ns, double price_ns) {
    return exchange->meeting > 0 ? measured_ns : fmin(price_ns, measured_ns);
}

/* The prices of `slower` times as many bytes. */
static bool price_both(pace_estimate *now_ns, pace_estimate *then_ns, pace_link_prices *prices, pace_link_prices *there,
                       const pace_graph *graph, const pace_graph_exchange *exchange, const pace_link_case *then,
                       double slower) {
    const pace_link_case now = {exchange->bytes * slower, 1, PACE_ANY};
    const pace_link_case other = {then->bytes * slower, then->faster, then->algorithm};
    return pace_link_price(now_ns, prices, graph, exchange, &now) &&
           pace_link_price(then_ns, there, graph, exchange, &other);
}

/* Links that are slower than was known take as long as they should for so many times as many bytes. */
bool pace_link_reprice(pace_variant *variant, uint32_t launch, double measured_ns, pace_link_prices *prices,
                       pace_link_prices *there, const pace_link_case *then) {
    const pace_graph *graph = &variant->graph;
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, launch);
    pace_estimate now_ns, then_ns;
    if (!(measured_ns > 0) || !price_both(&now_ns, &then_ns, prices, there, graph, exchange, then, 1)) return false;
    double explained = pace_link_explained_ns(exchange, measured_ns, now_ns.median);
    double slower = explained / now_ns.median;
    if (slower > 1 && !price_both(&now_ns, &then_ns, prices, there, graph, exchange, then, slower)) return false;
    double change = explained * (then_ns.median / now_ns.median - 1);
    double more = (measured_ns + change) / measured_ns;
    variant->launches[launch].more *= more;
    pace_variant_assume(variant, launch, PACE_DOUBT_NETWORK, then_ns.spread * fabs(change) / (measured_ns + change));
    return true;
}

/* --- to another machine ------------------------------------------------------------------------------------------- */

static void move_rank(const pace_editing *e, size_t rank, pace_link_prices *here, pace_link_prices *there) {
    pace_variant *variant = &e->variants[rank];
    for (uint32_t i = 0; i < variant->graph.launches.count; i++) {
        const pace_graph_exchange *exchange = pace_graph_exchange_of(&variant->graph, i);
        if (!exchange) continue;
        const pace_link_case as_it_is = {exchange->bytes, 1, PACE_ANY};
        double measured_ns = e->ranks[rank].measured_ns[variant->launches[i].part];
        e->edits->moved_exchanges += pace_link_reprice(variant, i, measured_ns, here, there, &as_it_is);
    }
}

bool pace_links_may_move(const pace_forecast *forecast, const pace_scenario *scenario) {
    return forecast->measured && scenario->device && scenario->has_exchange;
}

pace_status pace_links_move(pace_editing *e) {
    const pace_analysis *measured = e->forecast->measured;
    if (!pace_links_may_move(e->forecast, e->scenario)) return PACE_OK;
    const pace_rank *rank = pace_rank_trace(pace_analysis_slowest(measured));
    pace_link_prices here = {.catalog = e->forecast->catalog}, there = here;
    PACE_TRY(pace_link_machine_choose(&here.links, rank, pace_asked_machine(measured), here.catalog));
    PACE_TRY(pace_link_machine_choose(&there.links, rank, &e->scenario->machine, there.catalog));
    bool named_here = strcmp(here.links.machine.device, there.links.machine.device) == 0;
    if (here.links.machine.devices == 0 || named_here) return PACE_OK;
    for (size_t r = 0; r < e->count; r++) move_rank(e, r, &here, &there);
    return PACE_OK;
}
