#include "insight/forecast_price.h"

#include "cost/roofline.h"

#include <string.h>

/* A kernel measured here takes about as long the next time: re-measurements differ by a few percent. */
static const double measured_spread = 0.03;
/* Two estimates of one operation err the same way more often than not, so their ratio errs less than either. */
static const double ratio_correlation = 0.5;
/* Of a kernel that nothing but its time is known of. */
static const double unknown_spread = 0.5;

typedef struct {
    const pace_forecast *forecast;
    const pace_forecast_rank *rank;
    const pace_scenario *scenario;
} pricing;

static bool moves(const pricing *p) {
    const pace_device *here = p->forecast->device, *there = p->scenario->device;
    return there && (!here || strcmp(here->name, there->name) != 0);
}

/* How much slower the other device is at what limits such kernels. */
static double rate_ratio(const pricing *p, const pace_op *op) {
    const pace_device *here = p->forecast->device, *there = p->scenario->device;
    pace_op_family family = op ? op->family : PACE_OP_UNKNOWN;
    bool matrix = family == PACE_OP_GEMM || family == PACE_OP_CONVOLUTION || family == PACE_OP_ATTENTION;
    double from = 0, to = 0;
    if (matrix) {
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

static bool has_amounts(const pace_op *op) { return op && (op->flop > 0 || op->read_bytes > 0 || op->write_bytes > 0); }

/* Measured there, asked for here: the ratio of two estimates of the same operation carries what the estimates miss. */
static pace_estimate move(const pricing *p, const pace_op *op, double measured_ns) {
    pace_estimate here, there;
    if (has_amounts(op) && pace_cost_op(&here, p->forecast->cost, p->forecast->device, op) == PACE_OK &&
        pace_cost_op(&there, p->forecast->cost, p->scenario->device, op) == PACE_OK && here.median > 0) {
        double variance = here.spread * here.spread + there.spread * there.spread -
                          2 * ratio_correlation * here.spread * there.spread;
        return (pace_estimate){measured_ns * there.median / here.median, sqrt(variance),
                               here.rung > there.rung ? here.rung : there.rung};
    }
    return (pace_estimate){measured_ns * rate_ratio(p, op), unknown_spread, PACE_RUNG_ROOFLINE};
}

static pace_status price(pace_estimate *out_ns, const pricing *p, size_t number) {
    const pace_launch *launch = &p->rank->graph.launches.items[number];
    const pace_op *op = launch->op == PACE_NO_OP ? NULL : &p->rank->graph.ops.items[launch->op];
    double measured = p->rank->measured_ns[number];
    if (measured >= 0) {
        *out_ns = (pace_estimate){measured, measured_spread, PACE_RUNG_MEASURED};
        if (!moves(p) || launch->exchange) return PACE_OK;
        if (!p->forecast->device)
            return pace_fail(PACE_E_MISSING, "%s: does not name the device it was measured on: name it with --from",
                             p->rank->name);
        *out_ns = move(p, op, measured);
        return PACE_OK;
    }
    const pace_device *device = p->scenario->device ? p->scenario->device : p->forecast->device;
    if (!device)
        return pace_fail(PACE_E_MISSING, "%s: its kernels have no times: name a device with --on", p->rank->name);
    *out_ns = (pace_estimate){0, unknown_spread, PACE_RUNG_ROOFLINE};
    if (!has_amounts(op)) return PACE_OK;
    PACE_TRY(pace_cost_op(out_ns, p->forecast->cost, device, op));
    out_ns->median *= 1e9;
    return PACE_OK;
}

static double scale_of(const pricing *p, size_t number) {
    const pace_graph *graph = &p->rank->graph;
    const pace_launch *launch = &graph->launches.items[number];
    double factor = 1;
    for (size_t i = 0; i < p->scenario->scales.count; i++) {
        const regex_t *name = &p->scenario->scales.items[i].name;
        const char *kernel = pace_names_text(&graph->names, launch->name);
        const char *op = pace_names_text(&graph->names, graph->nodes.items[launch->node].name);
        if (regexec(name, kernel, 0, NULL, 0) == 0 || regexec(name, op, 0, NULL, 0) == 0)
            factor *= p->scenario->scales.items[i].factor;
    }
    return factor;
}

static void count_in(pace_forecast_family *families, const pricing *p, size_t number, pace_estimate ns) {
    uint32_t op = p->rank->graph.launches.items[number].op;
    pace_op_family family = op == PACE_NO_OP ? PACE_OP_UNKNOWN : p->rank->graph.ops.items[op].family;
    pace_forecast_family *of = &families[family];
    of->kernel_ns += ns.median;
    of->spread_ns += ns.median * ns.spread;
    of->launches++;
    of->by_rung[ns.rung]++;
    if (op == PACE_NO_OP || !has_amounts(&p->rank->graph.ops.items[op])) of->unknown++;
}

pace_status pace_forecast_price(double *launch_ns, pace_forecast_family *families, const pace_forecast *forecast,
                                const pace_forecast_rank *rank, const pace_scenario *scenario) {
    pricing p = {forecast, rank, scenario};
    for (size_t i = 0; i < rank->graph.launches.count; i++) {
        pace_estimate ns;
        PACE_TRY(price(&ns, &p, i));
        ns.median *= scale_of(&p, i);
        launch_ns[i] = ns.median;
        count_in(families, &p, i, ns);
    }
    return PACE_OK;
}
