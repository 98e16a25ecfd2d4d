#include "forecast/forecast_price.h"
#include "base/pattern.h"
#include "cost/roofline.h"
#include "exchange/approach_buffer.h"
#include "exchange/token_routes.h"
#include "step/host_operators.h"
#include "step/op_edit.h"

#include <string.h>

static double doubt(const pace_pricing *p, pace_doubt which) {
    return pace_cost_doubts(p->forecast->cost)->figure[which];
}

const pace_device *pace_pricing_device(const pace_pricing *p) {
    return p->scenario->device ? p->scenario->device : p->forecast->device;
}

double pace_pricing_copy_rate(const pace_pricing *p) {
    return pace_device_host_rate(pace_pricing_device(p), pace_cost_doubts(p->forecast->cost));
}

double pace_adding_rate(const pace_device *device) {
    return device->achievable_bytes_per_s > 0 ? device->achievable_bytes_per_s : device->memory_bytes_per_s;
}

static bool moves(const pace_pricing *p) {
    const pace_device *here = p->forecast->device, *there = p->scenario->device;
    return there && (!here || strcmp(here->name, there->name) != 0);
}

static bool has_amounts(const pace_op *op) { return op && (op->flop > 0 || op->read_bytes > 0 || op->write_bytes > 0); }

/* Nothing is known of its operation, or no more than the tensors it touches. */
static bool is_guessed(const pace_pricing *p, uint32_t launch) {
    return p->variant->graph.launches.items[launch].guessed || !has_amounts(pace_variant_op(p->variant, launch));
}

/* --- the parts of a launch ---------------------------------------------------------------------------------------- */

/* What was measured of them together, ns; below 0 where one was not. */
static double measured_ns(const pace_pricing *p, uint32_t launch) {
    double sum = 0;
    for (uint32_t part = p->variant->launches[launch].part; part != PACE_NO_LAUNCH;
         part = p->variant->next_part[part]) {
        if (p->rank->measured_ns[part] < 0) return -1;
        sum += p->rank->measured_ns[part];
    }
    return sum;
}

static bool is_unchanged(const pace_pricing *p, uint32_t launch) {
    const pace_variant *v = p->variant;
    const pace_variant_launch *of = &v->launches[launch];
    const pace_op *now = pace_variant_op(v, launch), *was = pace_variant_part_op(v, of->part);
    bool same = (!now && !was) || (now && was && pace_op_equal(now, was));
    return same && of->more == 1 && v->next_part[of->part] == PACE_NO_LAUNCH;
}

/* What the parts cost where they were measured, s; false where one's operation is unknown. */
static bool parts_cost(pace_estimate *out_s, const pace_pricing *p, uint32_t launch) {
    pace_estimate sum = {0, 0, PACE_RUNG_MEASURED, 0};
    for (uint32_t part = p->variant->launches[launch].part; part != PACE_NO_LAUNCH;
         part = p->variant->next_part[part]) {
        const pace_op *op = pace_variant_part_op(p->variant, part);
        pace_estimate one;
        if (!has_amounts(op) || pace_price_cached(&one, p->forecast->prices, p->forecast->cost, p->forecast->device, op,
                                                  PACE_ALONE) != PACE_OK)
            return false;
        sum.median += one.median;
        sum.spread += one.median * one.spread;
        if (one.rung > sum.rung) sum.rung = one.rung;
    }
    if (!(sum.median > 0)) return false;
    sum.spread /= sum.median;
    *out_s = sum;
    return true;
}

/* --- prices ------------------------------------------------------------------------------------------------------- */

/* How much slower the other device is at what limits such kernels. */
static double rate_ratio(const pace_pricing *p, const pace_op *op) {
    const pace_device *here = p->forecast->device, *there = pace_pricing_device(p);
    pace_op_family family = op ? op->family : PACE_OP_UNKNOWN;
    double from = 0, to = 0;
    if (!moves(p)) return 1;
    if (pace_op_is_matrix(family)) {
        from = pace_device_peak(here, op->element_bytes);
        to = pace_device_peak(there, op->element_bytes);
    } else if (family == PACE_OP_TRANSFER) {
        from = here->pcie_bytes_per_s;
        to = there->pcie_bytes_per_s;
    }
    if (!(from > 0) || !(to > 0)) {
        from = here->memory_bytes_per_s;
        to = there->memory_bytes_per_s;
    }
    return from > 0 && to > 0 ? from / to : 1;
}

static double start_share(const pace_pricing *p, const pace_op *op) {
    return has_amounts(op) ? pace_cost_start_share(p->forecast->cost, pace_pricing_device(p), op) : 0;
}

/* What the ladder misses between these two devices, as other steps showed it. */
static pace_estimate calibrated(const pace_pricing *p, const pace_op *op, pace_estimate moved) {
    const pace_pair_calibration *calibration = p->forecast->calibration;
    if (!moves(p) || !pace_pair_calibration_applies(calibration, p->forecast->device, pace_pricing_device(p)))
        return moved;
    const pace_pair_sums *sums = &calibration->of[op ? op->family : PACE_OP_UNKNOWN];
    double share = start_share(p, op);
    if (sums->pairs == 0) return moved;
    return (pace_estimate){moved.median * pace_pair_factor(sums, share), pace_pair_spread(sums, share, moved.spread),
                           PACE_RUNG_CALIBRATED, 0};
}

static pace_estimate by_rates(const pace_pricing *p, uint32_t launch, double measured) {
    const pace_op *op = pace_variant_op(p->variant, launch);
    double ns = measured * p->variant->launches[launch].more * rate_ratio(p, op);
    if (!moves(p)) return (pace_estimate){ns, doubt(p, PACE_DOUBT_KERNEL_REPEATED), PACE_RUNG_MEASURED, 0};
    return calibrated(p, op, (pace_estimate){ns, doubt(p, PACE_DOUBT_KERNEL_UNKNOWN), PACE_RUNG_ROOFLINE, 0});
}

/* The ratio of two estimates carries over what both miss, and no kernel becomes faster than the device allows. */
static pace_estimate by_ratio(const pace_pricing *p, uint32_t launch, double measured) {
    const pace_op *op = pace_variant_op(p->variant, launch);
    const pace_device *device = pace_pricing_device(p);
    pace_estimate here, there;
    if (!has_amounts(op) || !parts_cost(&here, p, launch) ||
        pace_price_cached(&there, p->forecast->prices, p->forecast->cost, device, op, PACE_ALONE) != PACE_OK)
        return by_rates(p, launch, measured);
    double alike = doubt(p, PACE_DOUBT_RATIO_CORRELATION); /* a ratio errs less than either of its estimates */
    double variance = here.spread * here.spread + there.spread * there.spread - 2 * alike * here.spread * there.spread;
    pace_estimate moved = {measured * there.median / here.median, sqrt(variance),
                           here.rung > there.rung ? here.rung : there.rung, 0};
    moved = calibrated(p, op, moved);
    double bound = 1e9 * pace_cost_least_s(p->forecast->cost, device, op);
    if (moved.median < bound && !pace_price_was_beyond(p, launch)) moved.median = bound;
    return moved;
}

/* What a launch and its parts compute, or move. */
static double amount_of(const pace_op *op) {
    if (!op) return 0;
    return pace_op_is_matrix(op->family) ? op->flop : op->read_bytes + op->write_bytes;
}

/* What the fastest part moves, or computes, in a nanosecond beyond its call. */
static double fastest_part(const pace_pricing *p, uint32_t launch) {
    double most = 0;
    for (uint32_t part = p->variant->launches[launch].part; part != PACE_NO_LAUNCH;
         part = p->variant->next_part[part]) {
        double ns = p->rank->measured_ns[part] - p->rank->call_ns,
               amount = amount_of(pace_variant_part_op(p->variant, part));
        if (ns > 0 && amount > most * ns) most = amount / ns;
    }
    return most;
}

/* Where the host is the device: a call for each operator, and what it does in proportion to how much that is. What a
 * part takes longer than the fastest of them would for as many bytes is arithmetic, which no fusion saves, unless it is
 * so short that it may be a longer call. */
static pace_estimate by_amounts(const pace_pricing *p, uint32_t launch, double measured) {
    double now = amount_of(pace_variant_op(p->variant, launch)), rate = fastest_part(p, launch), arithmetic_ns = 0;
    const pace_variant_launch *of = &p->variant->launches[launch];
    for (uint32_t part = of->part; part != PACE_NO_LAUNCH; part = p->variant->next_part[part]) {
        double ns = fmax(p->rank->measured_ns[part] - p->rank->call_ns, 0);
        double amount = rate > 0 ? amount_of(pace_variant_part_op(p->variant, part)) / rate : 0;
        if (pace_longer_than_calls(ns, p->rank->call_ns)) arithmetic_ns += fmax(ns - amount, 0);
    }
    double works_ns = arithmetic_ns * of->more + (rate > 0 ? now / rate : 0);
    return (pace_estimate){fmin(p->rank->call_ns, measured) + works_ns, doubt(p, PACE_DOUBT_HOST_AMOUNTS),
                           PACE_RUNG_FORMULA, 0};
}

/* How many ranks exchange. Older execution traces do not say: then the ranks at hand, or of one, all of the machine. */
static int64_t ranks_of(bool *known, const pace_pricing *p, const pace_graph_exchange *exchange) {
    const pace_machine *machine = &p->scenario->exchange.machine;
    const pace_graph *graph = &p->variant->graph;
    *known = exchange->group_size > 0 || graph->world_size > 0 || p->forecast->ranks.count > 1;
    if (exchange->group_size > 0) return exchange->group_size;
    if (graph->world_size > 0) return graph->world_size;
    if (p->forecast->ranks.count > 1) return (int64_t)p->forecast->ranks.count;
    return (int64_t)machine->devices * machine->nodes;
}

/* Gradients of data-parallel ranks: a bucket as the approach exchanges it; those that lanes exchange have no price of
 * their own (forecast_gradients.h). */
static pace_status by_approach(pace_estimate *out_ns, const pace_pricing *p, const pace_exchange_question *question) {
    double s = 0;
    pace_approach_setup setup = {question->ranks_per_node, question->nodes, pace_pricing_copy_rate(p),
                                 p->scenario->slowness, 0};
    if (!pace_scenario_has_lanes(p->scenario))
        PACE_TRY(
            pace_approach_buffer_s(&s, &p->scenario->approach, &p->scenario->exchange, &setup, question->bytes, 1));
    *out_ns = (pace_estimate){s * 1e9, doubt(p, PACE_DOUBT_EXCHANGE_BUCKET), PACE_RUNG_FORMULA, 0};
    if (!pace_approach_has_buckets(&p->scenario->approach)) return PACE_OK;
    pace_estimate alone_s; /* the collective itself is as well known as any other */
    pace_exchange_question alone = *question;
    alone.algorithm = pace_approach_algorithm(&p->scenario->approach);
    PACE_TRY(pace_exchange_time(&alone_s, &p->scenario->exchange, &alone));
    out_ns->spread = alone_s.spread;
    out_ns->rung = alone_s.rung;
    return PACE_OK;
}

/* What ranks exchange, by the closed forms of how they are joined. */
static pace_status by_exchange(pace_estimate *out_ns, const pace_pricing *p, uint32_t launch) {
    const pace_graph *graph = &p->variant->graph;
    const pace_graph_exchange *exchange = &graph->exchanges.items[graph->launches.items[launch].exchange - 1];
    const char *name = pace_names_text(&graph->names, exchange->collective);
    pace_exchange_question question = {.algorithm = PACE_ANY, .protocol = PACE_ANY, .bytes = exchange->bytes};
    bool point = strcmp(name, "send") == 0 || strcmp(name, "recv") == 0, pull = exchange->role == PACE_ROLE_PULL;
    const pace_machine *machine = &p->scenario->exchange.machine;
    bool known = true;
    int64_t size = point ? 2 : ranks_of(&known, p, exchange);
    if (!p->scenario->has_exchange || (machine->devices * machine->nodes == 1 && !(known && size == 1)))
        return pace_fail(PACE_E_MISSING,
                         "%s: its ranks exchange data (%s): name a machine with " PACE_FIELD
                         "on, as dgx-h100*2 or \"%s*8 nvlink=300GB/s\"",
                         p->rank->name, name, pace_pricing_device(p)->name);
    if (!pull && !pace_collective_find(&question.collective, point ? "sendrecv" : name))
        return pace_fail(PACE_E_INPUT, "%s: no time for an exchange of kind \"%s\"", p->rank->name, name);
    if (pace_collective_rows[question.collective].of_parts)
        question.bytes *= (double)size; /* a rank's part, to all parts */
    pace_group_place place;
    PACE_TRY(pace_group_place_find(&place, machine, p->scenario->ranks_per_node, size,
                                   exchange->group_stride > 0 ? exchange->group_stride : 1));
    question.ranks_per_node = place.ranks_per_node;
    question.nodes = place.nodes;
    const pace_token_routes routes = {exchange->routed_nodes, exchange->routed_copies};
    if (routes.nodes > 0) {
        PACE_TRY(pace_token_exchange_time(out_ns, &p->scenario->exchange, &question, &place, &routes));
        pace_estimate_scale(out_ns, 1e9 * p->scenario->slowness);
        return PACE_OK;
    }
    question.bytes *= place.crowding;
    bool sums = exchange->role == PACE_ROLE_GRADIENT && question.collective == PACE_ALLREDUCE; /* ZeRO scatters */
    if (p->scenario->has_approach && (pull || sums)) return by_approach(out_ns, p, &question);
    PACE_TRY(pace_exchange_time(out_ns, &p->scenario->exchange, &question));
    if (!known) out_ns->spread = hypot(out_ns->spread, doubt(p, PACE_DOUBT_EXCHANGE_RANKS));
    pace_estimate_scale(out_ns, 1e9 * p->scenario->slowness);
    return PACE_OK;
}

static pace_status price_anew(pace_estimate *out_ns, const pace_pricing *p, uint32_t launch) {
    const pace_op *op = pace_variant_op(p->variant, launch);
    const pace_device *device = pace_pricing_device(p);
    if (!device)
        return pace_fail(PACE_E_MISSING, "%s: its kernels have no times: name a device with " PACE_FIELD "on",
                         p->rank->name);
    if (p->variant->graph.launches.items[launch].exchange) return by_exchange(out_ns, p, launch);
    if (is_guessed(p, launch)) *out_ns = pace_cost_guess_op(p->forecast->cost, device, op);
    else PACE_TRY(pace_price_cached(out_ns, p->forecast->prices, p->forecast->cost, device, op, PACE_SUSTAINED));
    pace_estimate_scale(out_ns, 1e9);
    return PACE_OK;
}

/* --- equal launches ----------------------------------------------------------------------------------------------- */

static bool same_exchange(const pace_graph_exchange *a, const pace_graph_exchange *b) {
    return a->collective == b->collective && a->bytes == b->bytes && a->group_size == b->group_size &&
           a->group_stride == b->group_stride && a->role == b->role && a->routed_nodes == b->routed_nodes &&
           a->routed_copies == b->routed_copies;
}

/* Where the price of such a launch is kept; NULL = nowhere. */
static pace_estimate *known_price(const pace_pricing *p, uint32_t launch) {
    const pace_launch *of = &p->variant->graph.launches.items[launch];
    pace_known_prices *known = p->known;
    if (!known) return NULL;
    if (!of->exchange) return of->op == PACE_NO_OP ? NULL : &known->op_ns[2 * (size_t)of->op + of->guessed];
    const pace_graph_exchange *exchange = &p->variant->graph.exchanges.items[of->exchange - 1];
    for (size_t i = 0; i < known->exchange_count; i++)
        if (same_exchange(&known->exchanges[i].exchange, exchange)) return &known->exchanges[i].ns;
    if (known->exchange_count == PACE_COUNT(known->exchanges)) return NULL;
    pace_exchange_price *added = &known->exchanges[known->exchange_count++];
    *added = (pace_exchange_price){*exchange, {-1, 0, PACE_RUNG_FORMULA, 0}};
    return &added->ns;
}

static pace_status without_measurement(pace_estimate *out_ns, const pace_pricing *p, uint32_t launch) {
    pace_estimate *known = known_price(p, launch);
    if (known && known->median >= 0) {
        *out_ns = *known;
        return PACE_OK;
    }
    PACE_TRY(price_anew(out_ns, p, launch));
    if (known) *known = *out_ns;
    return PACE_OK;
}

static pace_status price(pace_estimate *out_ns, const pace_pricing *p, uint32_t launch) {
    double measured = measured_ns(p, launch);
    bool is_exchange = p->variant->graph.launches.items[launch].exchange != 0;
    if (measured < 0) return without_measurement(out_ns, p, launch);
    *out_ns = (pace_estimate){measured, doubt(p, PACE_DOUBT_KERNEL_REPEATED), PACE_RUNG_MEASURED, 0};
    if (is_exchange) out_ns->median *= p->variant->launches[launch].more;
    if (is_exchange || (!moves(p) && is_unchanged(p, launch))) return PACE_OK;
    if (!moves(p) && p->rank->call_ns > 0) {
        *out_ns = by_amounts(p, launch, measured);
        return PACE_OK;
    }
    if (!p->forecast->device)
        return pace_fail(PACE_E_MISSING,
                         "%s: does not name the device it was measured on: name it with " PACE_FIELD "from",
                         p->rank->name);
    *out_ns = by_ratio(p, launch, measured);
    return PACE_OK;
}

/* Time of one launch of the variant, ns, without the scenario's scales. */
static pace_status price_launch(pace_estimate *out_ns, const pace_pricing *p, uint32_t launch) {
    PACE_TRY(price(out_ns, p, launch));
    double assumed = p->variant->launches[launch].assumed;
    if (assumed > 0) out_ns->spread = hypot(out_ns->spread, assumed);
    return PACE_OK;
}

/* --- what no kernel can be faster than ---------------------------------------------------------------------------- */

bool pace_price_was_beyond(const pace_pricing *p, uint32_t launch) {
    double bound = 0, measured = measured_ns(p, launch);
    if (measured < 0 || !p->forecast->device) return false;
    for (uint32_t part = p->variant->launches[launch].part; part != PACE_NO_LAUNCH;
         part = p->variant->next_part[part]) {
        const pace_op *op = pace_variant_part_op(p->variant, part);
        if (has_amounts(op)) bound += 1e9 * pace_cost_least_s(p->forecast->cost, p->forecast->device, op);
    }
    return measured < bound;
}

/* --- a rank's ----------------------------------------------------------------------------------------------------- */

bool pace_price_scale(double *factor, const pace_scenario *scenario, const pace_graph *graph, uint32_t number) {
    const pace_launch *launch = &graph->launches.items[number];
    const char *kernel = pace_names_text(&graph->names, launch->name);
    const char *op = pace_names_text(&graph->names, graph->nodes.items[launch->node].name);
    bool any = false;
    const pace_scenario_value *scale;
    for (size_t i = 0; (scale = pace_scenario_value_at(scenario, "scale", i)); i++) {
        if (!pace_pattern_fits(&scale->name, kernel) && !pace_pattern_fits(&scale->name, op)) continue;
        if (factor) *factor *= scale->number;
        any = true;
    }
    return any;
}

/* What lanes price (forecast_gradients.h) is no kernel's time. */
static bool has_lanes(const pace_pricing *p, uint32_t number) {
    const pace_graph_exchange *of = pace_graph_exchange_of(&p->variant->graph, number);
    return of && pace_scenario_has_lanes(p->scenario) && (of->role == PACE_ROLE_GRADIENT || of->role == PACE_ROLE_PULL);
}

static pace_doubt exchange_doubt(const pace_pricing *p, const pace_graph_exchange *exchange) {
    const pace_exchange *model = &p->scenario->exchange;
    bool near = exchange->group_size > 0 && exchange->group_size * exchange->group_stride <= model->machine.devices;
    return pace_exchange_doubt(model, near ? 1 : model->machine.nodes);
}

/* What the price of a launch rests on, beside what a what-if assumes of it. */
static pace_doubt doubt_of(const pace_pricing *p, uint32_t number, pace_rung rung) {
    const pace_graph *graph = &p->variant->graph;
    uint32_t exchange = graph->launches.items[number].exchange;
    if (rung == PACE_RUNG_MEASURED) return PACE_DOUBT_KERNEL_REPEATED;
    if (exchange && rung == PACE_RUNG_CALIBRATED) return PACE_DOUBT_CURVE_PROBES;
    if (exchange) return exchange_doubt(p, &graph->exchanges.items[exchange - 1]);
    const pace_op *op = pace_variant_op(p->variant, number);
    if (rung == PACE_RUNG_LEARNED && op && pace_cost_beyond(p->forecast->cost, pace_pricing_device(p), op, ""))
        return PACE_DOUBT_KERNEL_BEYOND;
    if (rung == PACE_RUNG_CALIBRATED || rung == PACE_RUNG_LEARNED) return PACE_DOUBT_KERNEL_FIT;
    if (is_guessed(p, number)) return measured_ns(p, number) < 0 ? PACE_DOUBT_KERNEL_GUESS : PACE_DOUBT_KERNEL_UNKNOWN;
    return rung == PACE_RUNG_FORMULA ? PACE_DOUBT_KERNEL_FORMULA : PACE_DOUBT_KERNEL_ROOFLINE;
}

/* What a launch adds to the sums of its family, and to those of what its price rests on. */
typedef struct {
    double ns, spread_ns, doubt_ns, part_ns, assumed_ns;
    pace_forecast_family *family;
    double *doubts_ns; /* NULL = not wanted */
    pace_doubt doubt, assumed_by;
    pace_rung rung;
    bool unknown, guessed, of_tensors;
} launch_share;

static void find_doubts(launch_share *out, const pace_pricing *p, uint32_t number, pace_estimate ns) {
    const pace_variant_launch *launch = &p->variant->launches[number];
    bool exchange = p->variant->graph.launches.items[number].exchange;
    const pace_device *device = pace_pricing_device(p);
    double part = exchange || !device ? 0 : pace_cost_part_spread(p->forecast->cost, device, ns.rung);
    double own = ns.spread * ns.spread - launch->assumed * launch->assumed - part * part;
    out->doubts_ns = exchange ? p->doubts->exchanges_ns : p->doubts->kernels_ns;
    out->doubt = doubt_of(p, number, ns.rung);
    out->doubt_ns = ns.median * sqrt(fmax(own, 0));
    out->part_ns = ns.median * part;
    out->assumed_by = launch->assumed_by;
    out->assumed_ns = ns.median * launch->assumed;
}

static launch_share share_in(pace_forecast_family *families, const pace_pricing *p, uint32_t number, pace_estimate ns) {
    const pace_op *op = pace_variant_op(p->variant, number);
    bool exchange = p->variant->graph.launches.items[number].exchange;
    launch_share share = {.ns = ns.median,
                          .spread_ns = ns.median * ns.spread,
                          .family = &families[exchange ? PACE_FORECAST_EXCHANGES
                                              : op     ? (int)op->family
                                                       : PACE_OP_UNKNOWN],
                          .rung = ns.rung,
                          .unknown = !exchange && is_guessed(p, number)};
    if (p->doubts) find_doubts(&share, p, number, ns);
    share.guessed = share.unknown && measured_ns(p, number) < 0;
    share.of_tensors = share.guessed && has_amounts(op);
    return share;
}

static void count_launches(const launch_share *share, uint32_t times) {
    pace_forecast_family *of = share->family;
    of->launches += times;
    of->by_rung[share->rung] += times;
    of->unknown += share->unknown * times;
    of->guessed += share->guessed * times;
    of->guessed_of_tensors += share->of_tensors * times;
}

static void add_times(const launch_share *share) {
    pace_forecast_family *of = share->family;
    of->kernel_ns += share->ns;
    of->spread_ns += share->spread_ns;
    if (share->doubts_ns) {
        share->doubts_ns[share->doubt] += share->doubt_ns;
        share->doubts_ns[PACE_DOUBT_DEVICE_PART] += share->part_ns;
        if (share->assumed_ns > 0) share->doubts_ns[share->assumed_by] += share->assumed_ns;
    }
    if (share->unknown) of->unknown_ns += share->ns;
    if (share->guessed) of->guessed_ns += share->ns;
}

pace_status pace_price_pair_times(pace_pair_times times[PACE_OP_FAMILIES], const pace_pricing *pricing) {
    for (uint32_t i = 0; i < pricing->variant->graph.launches.count; i++) {
        const pace_op *op = pace_variant_op(pricing->variant, i);
        pace_pair_times *of = &times[op ? op->family : PACE_OP_UNKNOWN];
        pace_estimate ns;
        PACE_TRY(price_launch(&ns, pricing, i));
        of->ns += ns.median;
        of->start_ns += ns.median * start_share(pricing, op);
    }
    return PACE_OK;
}

/* As the framework runs them (pace_price_shares). */
static double share_of(const pace_pricing *p, uint32_t number) {
    const pace_price_shares *shares = &p->forecast->shares;
    const pace_graph_exchange *exchange = pace_graph_exchange_of(&p->variant->graph, number);
    const pace_op *op = pace_variant_op(p->variant, number);
    if (exchange && exchange->role != PACE_ROLE_ACTIVATION) return 1;
    if (exchange) return 1 - shares->hidden_exchange[exchange->group_kind];
    return op && op->family == PACE_OP_ATTENTION ? 1 + shares->slower_attention : 1;
}

typedef struct {
    launch_share *items;
    size_t count;
} launch_shares;

/* Where the share of such a launch is kept, which what it computes decides alone; NULL = nowhere. */
static launch_share *known_share(const launch_shares *known, const pace_pricing *p, uint32_t number) {
    const pace_launch *launch = &p->variant->graph.launches.items[number];
    const pace_variant_launch *edited = &p->variant->launches[number];
    if (launch->exchange || launch->op == PACE_NO_OP) return NULL;
    if (edited->assumed > 0 || edited->slower != 1 || measured_ns(p, number) >= 0) return NULL;
    return &known->items[2 * (size_t)launch->op + launch->guessed];
}

/* Rounds that are left out, launch by launch, as their shares stand: in the order, and so with the sums, that the whole
 * step has. */
static void count_rounds(const launch_shares *round, uint32_t times) {
    for (size_t i = 0; i < round->count; i++) count_launches(&round->items[i], times);
    for (uint32_t k = 0; k < times; k++)
        for (size_t i = 0; i < round->count; i++) add_times(&round->items[i]);
}

static pace_status share_of_launch(launch_share *out, pace_forecast_family *families, const pace_pricing *pricing,
                                   bool scaled, uint32_t number) {
    pace_estimate ns;
    PACE_TRY(price_launch(&ns, pricing, number));
    ns.median *= share_of(pricing, number);
    ns.median *= pricing->variant->launches[number].slower;
    if (scaled) pace_price_scale(&ns.median, pricing->scenario, &pricing->variant->graph, number);
    *out = share_in(families, pricing, number, ns);
    return PACE_OK;
}

static pace_status price_launches(double *launch_ns, launch_shares *of_round, const launch_shares *known,
                                  pace_forecast_family *families, const pace_pricing *pricing) {
    const pace_fold_round *round = &pricing->rank->round;
    bool scaled = pace_scenario_value_at(pricing->scenario, "scale", 0) != NULL;
    for (uint32_t i = 0; i < pricing->variant->graph.launches.count; i++) {
        launch_share share, *kept = scaled ? NULL : known_share(known, pricing, i);
        if (kept && kept->family) share = *kept;
        else PACE_TRY(share_of_launch(&share, families, pricing, scaled, i));
        if (kept) *kept = share;
        launch_ns[i] = share.ns;
        if (!has_lanes(pricing, i)) {
            count_launches(&share, 1);
            add_times(&share);
            if (i >= round->first && i < round->last) of_round->items[of_round->count++] = share;
        }
        if (round->last > 0 && i + 1 == round->last) count_rounds(of_round, pricing->forecast->folded);
    }
    return PACE_OK;
}

static pace_status open_known(pace_known_prices *out, const pace_graph *graph) {
    size_t count = 2 * graph->ops.count;
    *out = (pace_known_prices){.op_ns = pace_alloc(count + 1, sizeof *out->op_ns)};
    for (size_t i = 0; out->op_ns && i < count; i++) out->op_ns[i].median = -1;
    return out->op_ns ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_price_launches(double *launch_ns, pace_forecast_family *families, const pace_pricing *pricing) {
    const pace_fold_round *round = &pricing->rank->round;
    const pace_graph *graph = &pricing->variant->graph;
    pace_forecast_family unasked[PACE_FORECAST_FAMILIES] = {0};
    pace_known_prices known = {0};
    pace_pricing remembering = *pricing;
    remembering.known = &known;
    launch_shares of_round = {.items = pace_alloc(round->last - round->first + 1, sizeof *of_round.items)};
    launch_shares of_ops = {.items = pace_alloc(2 * graph->ops.count + 1, sizeof *of_ops.items)};
    pace_status status = of_round.items && of_ops.items ? open_known(&known, graph) : PACE_E_MEMORY;
    if (status == PACE_OK)
        status = price_launches(launch_ns, &of_round, &of_ops, families ? families : unasked, &remembering);
    PACE_FREE(known.op_ns, of_round.items, of_ops.items);
    return status;
}
