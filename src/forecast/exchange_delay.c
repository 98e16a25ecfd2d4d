#include "forecast/exchange_delay.h"
#include "insight/steps/mean_step.h"

#include <math.h>

double pace_exchange_exposed_s(const pace_forecast_result *result) {
    const pace_analysis *analysis = &result->analysis;
    const pace_rank *rank = pace_analysis_slowest(analysis);
    if (rank->marks.items.count == 0) return 0;
    const pace_mark *mark = &rank->marks.items.items[rank->marks.items.count - 1];
    pace_matrix matrix = pace_rank_matrix(rank, mark->from_ns, mark->to_ns);
    return (double)pace_matrix_columns(&matrix, PACE_EXPOSED_COMMUNICATION, PACE_EXPOSED_COMMUNICATION) / 1e9;
}

static void add_exposed(double by_s[PACE_GROUPS], const pace_rank *rank, int64_t from_ns, int64_t to_ns, double times) {
    PACE_ITEMS (const pace_tile, tile, &rank->tiles) {
        int64_t start = tile->start_ns > from_ns ? tile->start_ns : from_ns;
        int64_t end = pace_tile_end(tile) < to_ns ? pace_tile_end(tile) : to_ns;
        if (tile->resource != PACE_EXPOSED_COMMUNICATION || tile->item == PACE_NO_TASK || end <= start) continue;
        const pace_exchange_info *info = pace_step_exchange(&rank->step, rank->work.items.items[tile->item].task);
        by_s[info ? info->group_kind : PACE_GROUP_UNKNOWN] += times * (double)(end - start) / 1e9;
    }
}

void pace_exchange_exposed_by(double by_s[PACE_GROUPS], const pace_forecast_result *result) {
    const pace_rank *rank = pace_analysis_slowest(&result->analysis);
    const pace_step_fold *fold = &rank->fold;
    for (int g = 0; g < PACE_GROUPS; g++) by_s[g] = 0;
    if (rank->marks.items.count == 0) return;
    size_t last = rank->marks.items.count - 1;
    const pace_mark *mark = &rank->marks.items.items[last];
    add_exposed(by_s, rank, mark->from_ns, mark->to_ns, 1);
    if (fold->times) add_exposed(by_s, rank, fold->from_ns[last], fold->from_ns[last] + fold->period_ns, fold->times);
}

/* Where the last forward pass of a step ends, and where its update begins. */
typedef struct {
    int64_t from_ns, to_ns;
} last_backward;

static last_backward backward_of(const pace_rank *rank, const pace_mark *mark) {
    const pace_work_items *items = &rank->work.items;
    last_backward last = {mark->from_ns, mark->to_ns};
    PACE_ITEMS (const pace_work_item, item, items) {
        if (item->start_ns < mark->from_ns || item->start_ns >= mark->to_ns || item->class > PACE_WORK_MEMORY_BOUND)
            continue;
        if (item->stage == PACE_STAGE_FORWARD) last = (last_backward){item->end_ns, mark->to_ns};
        if (item->stage == PACE_STAGE_UPDATE && last.to_ns == mark->to_ns) last.to_ns = item->start_ns;
    }
    return last;
}

/* Exchanges in that pass, `times` as long each: how much later than now the update can begin. */
static double late_s(const pace_rank *rank, double times) {
    const pace_intervals *all = &rank->work.communication;
    if (rank->marks.items.count == 0) return 0;
    last_backward pass = backward_of(rank, &rank->marks.items.items[rank->marks.items.count - 1]);
    double left_ns = 0, latest_ns = 0; /* from the update on */
    for (size_t i = all->count; i-- > 0;) {
        const pace_interval *one = &all->items[i];
        if (one->start_ns < pass.from_ns || one->start_ns >= pass.to_ns) continue;
        left_ns += times * (double)(one->end_ns - one->start_ns);
        latest_ns = fmax(latest_ns, (double)(one->start_ns - pass.to_ns) + left_ns);
    }
    return latest_ns / 1e9;
}

/* On how many nodes the ranks are that exchange: one, or all that there are. */
static int nodes_of(const pace_forecast_result *result, const pace_scenario *scenario) {
    const pace_machine *machine = &scenario->exchange.machine;
    int64_t on_node = scenario->ranks_per_node > 0 ? scenario->ranks_per_node : machine->devices;
    return result->exchange.span <= on_node ? 1 : machine->nodes;
}

/* How far off the exchanges are: as the closed form of their library is, or as measured curves say of themselves. */
static double spread_of(pace_doubt *out, const pace_forecast_result *result, const pace_scenario *scenario,
                        const pace_doubts *doubts) {
    const pace_forecast_family *all = &result->families[PACE_FORECAST_EXCHANGES];
    *out = pace_exchange_doubt(&scenario->exchange, nodes_of(result, scenario));
    bool measured = all->by_rung[PACE_RUNG_CALIBRATED] > 0, in_lanes = result->exchange.measured_spread > 0;
    if (!measured && !in_lanes) return doubts->figure[*out];
    *out = PACE_DOUBT_CURVE_PROBES;
    return in_lanes ? result->exchange.measured_spread : all->spread_ns / all->kernel_ns;
}

void pace_exchange_doubt_step(pace_forecast_result *result, const pace_scenario *scenario, const pace_doubts *doubts) {
    pace_estimate *step_s = &result->step_s;
    pace_doubt model;
    double figure = spread_of(&model, result, scenario, doubts);
    double form = doubts->figure[PACE_DOUBT_SCALING_EXCHANGE], own = hypot(form, figure);
    double times = exp(PACE_NORMAL_90 * own), exposed_s = (times - 1) * result->exchange.exposed_s;
    double later_s = fmax(exposed_s, late_s(pace_analysis_slowest(&result->analysis), times));
    double added = log1p(later_s / step_s->median) / PACE_NORMAL_90;
    step_s->spread = hypot(step_s->spread, added);
    result->used.added[model] = hypot(result->used.added[model], added * figure / own);
    result->used.added[PACE_DOUBT_SCALING_EXCHANGE] = added * form / own;
}

pace_matrix pace_forecast_matrix(const pace_forecast_result *result) {
    pace_matrix matrix = pace_mean_step_of(pace_analysis_slowest(&result->analysis), result->first_step).matrix;
    matrix.cell_ns[PACE_STAGE_BACKWARD][PACE_IDLE_RANK] += pace_ns(result->exchange.skew_s);
    return matrix;
}

bool pace_exposes_more(const pace_forecast_exchange *exchange) {
    static const pace_group_kind beside[] = {PACE_GROUP_TENSOR, PACE_GROUP_CONTEXT, PACE_GROUP_EXPERT,
                                             PACE_GROUP_PIPELINE};
    double beside_s = 0;
    for (size_t i = 0; i < PACE_COUNT(beside); i++) beside_s += exchange->exposed_by_s[beside[i]];
    return beside_s > 0.01 * exchange->exposed_s;
}
