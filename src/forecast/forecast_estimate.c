#include "forecast/forecast_estimate.h"
#include "forecast/exchange_delay.h"
#include "insight/critical.h"

#include <math.h>
#include <string.h>

double pace_mean_step_ns(const pace_rank *rank, size_t first) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = first; i < rank->marks.items.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        if (mark->to_ns <= mark->from_ns) continue;
        sum += (double)(mark->to_ns - mark->from_ns);
        count++;
    }
    return count ? sum / (double)count + (double)pace_rank_left_out_ns(rank) : (double)rank->work.window.span_ns;
}

double pace_analysis_step_ns(const pace_analysis *analysis, size_t first) {
    double most = 0;
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        double step = pace_mean_step_ns(analysis->ranks.items[i], first);
        if (step > most) most = step;
    }
    return most;
}

/* What the host's share of a step is doubted by. */
typedef struct {
    pace_doubt of; /* PACE_DOUBTS = the host costs are the inputs' own */
    double own, moved;
} host_doubts;

static host_doubts host_doubts_of(const pace_forecast *forecast, const pace_scenario *scenario) {
    const pace_device *here = forecast->device, *there = scenario->device;
    const pace_doubts *doubts = pace_cost_doubts(forecast->cost);
    bool moves = there && (!here || strcmp(here->name, there->name) != 0);
    host_doubts out = {forecast->host_doubt, 0, 0};
    if (out.of < PACE_DOUBTS && (there || !forecast->offloaded.count)) out.own = doubts->figure[out.of];
    if (forecast->measured && moves && !forecast->offloaded.count) out.moved = doubts->figure[PACE_DOUBT_HOST_MOVED];
    return out;
}

/* Where operators do their work themselves it stands on the path as the host's: the part of it that is work. */
static double work_of_host(const pace_forecast_result *result, unsigned repeats, double kernels_ns) {
    double span_ns = 0;
    for (size_t i = 0; i < result->analysis.ranks.count; i++)
        span_ns += (double)result->analysis.ranks.items[i]->work.window.span_ns;
    return span_ns > 0 ? fmin(1, kernels_ns * repeats / span_ns) : 0;
}

/* Shares a variance among the doubts that its launches rest on. */
static void share_doubts(pace_doubts_used *used, const double doubt_ns[PACE_DOUBTS], double variance) {
    double sum = 0;
    for (int i = 0; i < PACE_DOUBTS; i++) sum += doubt_ns[i];
    for (int i = 0; i < PACE_DOUBTS && sum > 0; i++)
        used->added[i] = hypot(used->added[i], sqrt(variance * doubt_ns[i] / sum));
}

/* Variance of a step of which kernels take this share: families count by their part of the kernels' time. */
static double kernels_variance(const pace_forecast_result *result, double share) {
    double kernels_ns = 0, variance = 0;
    for (int f = 0; f < PACE_OP_FAMILIES; f++) kernels_ns += result->families[f].kernel_ns;
    for (int f = 0; f < PACE_OP_FAMILIES && kernels_ns > 0; f++)
        variance += pow(share * result->families[f].spread_ns / kernels_ns, 2);
    return variance;
}

/* The same of exchanges. Where gradients are exchanged, pace_exchange_doubt_step() adds what all of them do. */
static double exchanges_variance(const pace_forecast_result *result, double share) {
    const pace_forecast_family *all = &result->families[PACE_FORECAST_EXCHANGES];
    if (result->exchange.ranks > 1 || !(all->kernel_ns > 0)) return 0;
    return pow(share * all->spread_ns / all->kernel_ns, 2);
}

pace_status pace_forecast_estimate(pace_forecast_result *result, const pace_forecast *forecast,
                                   const pace_scenario *scenario) {
    const pace_device *device = scenario->device ? scenario->device : forecast->device;
    const host_doubts of_host = host_doubts_of(forecast, scenario);
    double walk = pace_cost_doubts(forecast->cost)->figure[PACE_DOUBT_WALK];
    bool explains = scenario->explains;
    pace_critical path;
    const pace_rank *slowest = pace_analysis_slowest(&result->analysis);
    if (explains) PACE_TRY(pace_critical_find_across(&path, &result->analysis, slowest));
    else PACE_TRY(pace_critical_find_path(&path, &result->analysis, slowest));
    result->unsteady = path.uneven;
    const int64_t *by_ns = path.by_resource_ns;
    int64_t device_ns = by_ns[PACE_ADVICE_COMPUTE] + by_ns[PACE_ADVICE_MEMORY] + by_ns[PACE_ADVICE_COPY];
    double length = (double)(path.to_ns > path.from_ns ? path.to_ns - path.from_ns : 1), kernels = 0;
    double network = (double)by_ns[PACE_ADVICE_NETWORK] / length, on_device = (double)device_ns / length;
    double host = (double)by_ns[PACE_ADVICE_HOST] / length;
    pace_rung rung = PACE_RUNG_MEASURED;
    for (int f = 0; f < PACE_FORECAST_FAMILIES; f++) {
        kernels += result->families[f].kernel_ns;
        for (int r = PACE_RUNGS - 1; r > (int)rung; r--)
            if (result->families[f].by_rung[r]) rung = (pace_rung)r;
    }
    if (device && device->is_cpu) {
        double work = fmin(host, work_of_host(result, forecast->repeats, kernels));
        host -= work;
        on_device += work;
    }
    double host_spread = of_host.moved > 0 ? hypot(of_host.own, of_host.moved) : of_host.own;
    double of_kernels = kernels_variance(result, on_device), of_exchanges = exchanges_variance(result, network);
    double variance = walk * walk + pow(host * host_spread, 2) + of_kernels + of_exchanges;
    share_doubts(&result->used, result->launch_doubts.kernels_ns, of_kernels);
    share_doubts(&result->used, result->launch_doubts.exchanges_ns, of_exchanges);
    result->used.added[PACE_DOUBT_WALK] = walk;
    if (of_host.of < PACE_DOUBTS) result->used.added[of_host.of] = host * of_host.own;
    result->used.added[PACE_DOUBT_HOST_MOVED] = host * of_host.moved;
    result->first_step = forecast->repeats - 1;
    double step_ns = pace_analysis_step_ns(&result->analysis, result->first_step);
    result->step_s = (pace_estimate){step_ns / 1e9, sqrt(variance), rung, 0};
    if (explains) result->path = path;
    else pace_critical_free(&path);
    return PACE_OK;
}

void pace_forecast_add_exchange(pace_forecast_result *result, const pace_forecast *forecast,
                                const pace_scenario *scenario) {
    const pace_doubts *doubts = pace_cost_doubts(forecast->cost);
    pace_forecast_exchange *exchange = &result->exchange;
    pace_estimate *step_s = &result->step_s;
    if (exchange->ranks < 2) return;
    exchange->exposed_s = pace_exchange_exposed_s(result);
    pace_exchange_exposed_by(exchange->exposed_by_s, result);
    double alone_s = exchange->alone_s > 0 ? exchange->alone_s : step_s->median - exchange->exposed_s;
    pace_gradient_ranks ranks = {scenario->has_exchange ? &scenario->exchange.machine : NULL, scenario->ranks_per_node,
                                 exchange->ranks, exchange->span / exchange->ranks, forecast->rounds};
    exchange->skew_s = pace_gradients_skew_among(&exchange->jitter, &scenario->approach, &ranks, alone_s);
    step_s->median += exchange->skew_s;
    double alike = doubts->figure[PACE_DOUBT_SCALING_STEP];
    step_s->spread = hypot(step_s->spread, alike);
    result->used.added[PACE_DOUBT_SCALING_STEP] = alike;
    pace_exchange_doubt_step(result, scenario, doubts);
}

void pace_forecast_doubt_replay(pace_forecast_result *result, double gap) {
    result->step_s.spread = hypot(result->step_s.spread, gap);
    result->used.added[PACE_DOUBT_WALK] = hypot(result->used.added[PACE_DOUBT_WALK], gap);
}
