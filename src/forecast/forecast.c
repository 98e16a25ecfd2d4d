#include "forecast/forecast.h"
#include "cost/host_costs_catalog.h"
#include "insight/critical.h"
#include "forecast/forecast_edit.h"
#include "forecast/forecast_gradients.h"
#include "forecast/exchange_delay.h"
#include "forecast/first_step.h"
#include "forecast/self_check.h"
#include "insight/steps/step_choice.h"
#include "source/graphs/graph_from_step.h"
#include "step/graph_edit.h"

#include <math.h>
#include <string.h>

/* --- from a measured analysis ------------------------------------------------------------------------------------ */

static void free_rank(pace_forecast_rank *rank) {
    pace_graph_free(&rank->graph);
    pace_host_costs_free(&rank->costs);
    pace_free(rank->measured_ns);
}

void pace_forecast_free(pace_forecast *forecast) {
    PACE_VEC_FREE_EACH(&forecast->ranks, free_rank);
    PACE_VEC_FREE_EACH(&forecast->offloaded, free_rank);
    PACE_VEC_FREE(&forecast->tables);
    if (forecast->prices) pace_price_cache_free(forecast->prices);
    pace_free(forecast->prices);
    pace_cost_free(forecast->cost);
    *forecast = (pace_forecast){0};
}

static bool has_steps(const pace_rank *rank) {
    return rank->marks.items.count && rank->marks.origin == PACE_MARKS_ANNOTATED;
}

/* What is walked of a rank: some of its marks, or without annotated steps all of the trace. */
typedef struct {
    size_t first, count;
    int64_t from_ns, to_ns;
} walked_part;

/* Steps that are annotated bound what is walked; else all of the trace is. `steps` NULL = all. */
static pace_status part_of(walked_part *out, const pace_rank *rank, const char *steps) {
    const pace_marks *marks = &rank->marks;
    const pace_step_choice choice = {.numbers = steps};
    walked_part part = {0, marks->items.count, INT64_MIN, INT64_MAX};
    if (steps) PACE_TRY(pace_step_choice_find(&part.first, &part.count, &choice, marks, &rank->step.names, rank->path));
    if (has_steps(rank)) {
        part.from_ns = marks->items.items[part.first].start_ns;
        part.to_ns = marks->items.items[part.first + part.count - 1].end_ns;
    }
    *out = part;
    return PACE_OK;
}

/* How long the measured steps of the part took. */
static void take_steps(pace_forecast_rank *rank, const pace_rank *trace, const walked_part *part) {
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const pace_mark *mark = &trace->marks.items.items[i];
        if (mark->to_ns <= mark->from_ns) continue;
        rank->steps_ns += (double)(mark->to_ns - mark->from_ns);
        rank->steps++;
    }
    if (rank->steps == 0) rank->steps_ns = (double)trace->work.window.span_ns;
}

/* An exchange lasts from the last rank's arrival; the wait before is what the walk finds. Nanoseconds + 1 of the tasks
 * that waited, zero for all others: the memory of most is never touched. */
static void take_waits(int64_t *task_ns, const pace_analysis *measured, const pace_rank *trace) {
    for (size_t r = 0; r < measured->ranks.count; r++) {
        if (pace_rank_trace(measured->ranks.items[r]) != trace) continue;
        const pace_work *work = &measured->ranks.items[r]->work;
        PACE_ITEMS (const pace_work_item, item, &work->items)
            if (item->wait_until_ns > item->start_ns) task_ns[item->task] = item->end_ns - item->wait_until_ns + 1;
    }
}

static pace_status measure_launches(pace_forecast_rank *rank, const pace_analysis *measured, const pace_rank *trace) {
    int64_t *task_ns = pace_alloc(trace->step.count + 1, sizeof *task_ns);
    rank->measured_ns = pace_alloc(rank->graph.launches.count + 1, sizeof *rank->measured_ns);
    if (!task_ns || !rank->measured_ns) {
        pace_free(task_ns);
        return PACE_E_MEMORY;
    }
    take_waits(task_ns, measured, trace);
    for (size_t i = 0; i < rank->graph.launches.count; i++) {
        const pace_launch *launch = &rank->graph.launches.items[i];
        uint32_t task = launch->task;
        bool of_host = task != PACE_NO_TASK && !pace_task_on_device(trace->step.kind[task]); /* a part of an operator */
        bool own = of_host || launch->heads_line; /* not the time of the task */
        int64_t ns = task == PACE_NO_TASK ? -1
                     : own                ? launch->duration_ns
                     : task_ns[task]      ? task_ns[task] - 1
                                          : pace_task_ns(&trace->step, task);
        rank->measured_ns[i] = (double)ns;
    }
    pace_free(task_ns);
    return PACE_OK;
}

/* Who met whom is what the analysis found (insight/ranks/collectives.h), where it joined several ranks: collectives
 * counted one by one would meet others' once a recording lacks some. Messages are matched by their peers. */
static pace_status take_meetings(pace_graph *graph, const pace_analysis *measured, const pace_rank *trace) {
    if (measured->ranks.count < 2) return PACE_OK;
    int32_t *meeting = pace_alloc(trace->step.count + 1, sizeof *meeting); /* per task */
    if (!meeting) return PACE_E_MEMORY;
    for (size_t r = 0; r < measured->ranks.count; r++) {
        const pace_rank *rank = measured->ranks.items[r];
        if (pace_rank_trace(rank) != trace) continue;
        for (size_t i = 0; i < rank->work.items.count; i++)
            if (!rank->work.items.items[i].message) meeting[rank->work.items.items[i].task] = PACE_MEETS_NOBODY;
        for (size_t c = 0; c < measured->collectives.items.count; c++) {
            uint32_t item = measured->collectives.parts.items[measured->collectives.items.items[c].first_part + r];
            if (item != PACE_NO_TASK) meeting[rank->work.items.items[item].task] = (int32_t)c + 1;
        }
    }
    PACE_ITEMS (const pace_launch, launch, &graph->launches)
        if (launch->exchange && launch->task != PACE_NO_TASK)
            graph->exchanges.items[launch->exchange - 1].meeting = meeting[launch->task];
    pace_free(meeting);
    return PACE_OK;
}

static pace_status add_trace(pace_forecast *forecast, const pace_rank *trace, const char *steps) {
    walked_part part;
    PACE_TRY(part_of(&part, trace, steps));
    pace_forecast_rank rank = {.name = trace->path, .call_ns = (double)trace->work.call_ns};
    if (part.from_ns != INT64_MIN) rank.start_ns = (double)(part.from_ns + trace->shift_ns);
    take_steps(&rank, trace, &part);
    PACE_TRY(pace_host_costs_init(&rank.costs));
    pace_status status = pace_graph_from_step(&rank.graph, forecast->catalog, &trace->step, part.from_ns, part.to_ns);
    if (status == PACE_OK) status = measure_launches(&rank, forecast->measured, trace);
    if (status == PACE_OK) status = take_meetings(&rank.graph, forecast->measured, trace);
    if (status == PACE_OK)
        status = pace_host_costs_measure(&rank.costs, &rank.launch, has_steps(trace) ? NULL : &rank.first_uses,
                                         &rank.graph, &trace->step);
    if (status == PACE_OK)
        pace_first_step_begin(&rank, has_steps(trace) ? &trace->marks.items.items[part.first] : NULL);
    if (status == PACE_OK) status = pace_launch_costs_complete(&rank.launch, forecast->catalog);
    if (status == PACE_OK) status = PACE_PUSH(&forecast->ranks, rank);
    if (status != PACE_OK) free_rank(&rank);
    return status;
}

static void start_at_the_first(pace_forecast *forecast) {
    double first = forecast->ranks.items[0].start_ns;
    for (size_t i = 0; i < forecast->ranks.count; i++)
        if (forecast->ranks.items[i].start_ns < first) first = forecast->ranks.items[i].start_ns;
    for (size_t i = 0; i < forecast->ranks.count; i++) forecast->ranks.items[i].start_ns -= first;
}

static pace_status make_ladder(pace_forecast *forecast) {
    PACE_TRY(pace_cost_create(&forecast->cost, forecast->catalog));
    if (!PACE_MAKE(forecast->prices, 1)) return PACE_E_MEMORY;
    pace_price_cache_init(forecast->prices);
    return PACE_OK;
}

pace_status pace_forecast_of_analysis(pace_forecast *out, const pace_analysis *measured, const char *steps) {
    pace_forecast forecast = {.catalog = measured->devices.documents,
                              .measured = measured,
                              .device = pace_analysis_slowest(measured)->device,
                              .host_doubt = PACE_DOUBTS,
                              .repeats = 1};
    pace_status status = make_ladder(&forecast);
    for (size_t i = 0; status == PACE_OK && i < measured->traces.count; i++)
        status = add_trace(&forecast, measured->traces.items[i], steps);
    if (status == PACE_OK) {
        start_at_the_first(&forecast);
        *out = forecast;
    } else {
        pace_forecast_free(&forecast);
    }
    return status;
}

/* --- from graphs -------------------------------------------------------------------------------------------------- */

static pace_doubt doubt_of_catalog(const pace_device *device) {
    return device && device->is_cpu ? PACE_DOUBT_HOST_CPU : PACE_DOUBT_HOST_CATALOG;
}

static const char direct_call[] = "direct call"; /* catalog/frameworks.yaml has what it costs */

/* Between host and device. Where the host is the device nothing need be copied to where it is already. */
static bool is_transfer(const pace_graph *graph, const pace_launch *launch) {
    const pace_op *op = launch->op == PACE_NO_OP ? NULL : &graph->ops.items[launch->op];
    return op && op->family == PACE_OP_TRANSFER && !strstr(op->kind, "d2d");
}

/* On a CPU a launch is a call that returns when the work is done; but a gradient goes while backward computes on. */
static pace_status run_on_host(pace_graph *graph) {
    pace_name name;
    PACE_TRY(pace_names_add(&name, &graph->names, direct_call, sizeof direct_call - 1));
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        pace_launch *launch = &graph->launches.items[i];
        launch->call = name;
        const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, i);
        if (!exchange || exchange->role != PACE_ROLE_GRADIENT) graph->nodes.items[launch->node].waits_launch = i;
        if (is_transfer(graph, launch)) launch->duration_ns = 0;
    }
    return PACE_OK;
}

/* Those of the catalogue, which all `ranks` have. */
static pace_status take_hosts(pace_forecast_rank *rank, const pace_forecast_ranks_vec *ranks, pace_catalog *catalog,
                              const char *mode, const pace_device *device) {
    if (ranks->count) {
        rank->launch = ranks->items[0].launch;
        return pace_host_costs_copy(&rank->costs, &ranks->items[0].costs);
    }
    PACE_TRY(pace_host_costs_init(&rank->costs));
    return pace_host_costs_default(&rank->costs, &rank->launch, catalog, mode, device);
}

static pace_status add_graph(pace_forecast_ranks_vec *ranks, pace_catalog *catalog, pace_graph *graph, const char *name,
                             const pace_device *device, const char *mode) {
    pace_forecast_rank rank = {.name = name, .graph = *graph};
    size_t launches = graph->launches.count;
    bool on_host = device && device->is_cpu;
    pace_status status = on_host ? run_on_host(&rank.graph) : PACE_OK;
    if (!PACE_MAKE(rank.measured_ns, launches + 1)) status = PACE_E_MEMORY;
    for (size_t i = 0; rank.measured_ns && i < launches; i++)
        rank.measured_ns[i] = (double)graph->launches.items[i].duration_ns;
    if (on_host && (!mode || strcmp(mode, "eager") == 0)) mode = "eager-cpu";
    if (status == PACE_OK) status = take_hosts(&rank, ranks, catalog, mode, device);
    if (on_host) rank.launch = (pace_launch_costs){0};
    if (status == PACE_OK && on_host) status = pace_graph_check(&rank.graph);
    if (status == PACE_OK) status = PACE_PUSH(ranks, rank);
    if (status != PACE_OK) free_rank(&rank);
    return status;
}

pace_status pace_forecast_of_graphs(pace_forecast *out, pace_catalog *catalog, pace_graph *graphs, size_t count,
                                    const char *const *names, const pace_device *device, const char *mode) {
    enum { SETTLED = 4 }; /* the device's queue carries over from one step to the next, and no further */
    pace_forecast forecast = {.catalog = catalog,
                              .device = device,
                              .repeats = SETTLED,
                              .host_doubt = doubt_of_catalog(device)};
    size_t taken = 0;
    pace_status status = make_ladder(&forecast);
    for (; status == PACE_OK && taken < count; taken++)
        status = add_graph(&forecast.ranks, catalog, &graphs[taken], names[taken], device, mode);
    for (; taken < count; taken++) pace_graph_free(&graphs[taken]);
    if (status == PACE_OK && count == 1) forecast.ranks.items[0].launch.queue = 0; /* it waits for each batch */
    return PACE_GIVE(out, forecast, status, pace_forecast_free(&forecast));
}

/* Operators that did their work themselves launch it, and go on: what they took says nothing of a device. */
static size_t hand_over(pace_graph *graph) {
    size_t sized = 0;
    PACE_ITEMS (pace_launch, launch, &graph->launches) {
        launch->duration_ns = -1;
        launch->name = 0;
        graph->nodes.items[launch->node].waits_launch = PACE_NO_LAUNCH;
        const pace_op *op = launch->op == PACE_NO_OP ? NULL : &graph->ops.items[launch->op];
        sized += op && op->read_bytes + op->write_bytes > 0;
    }
    return sized;
}

pace_status pace_forecast_offload(pace_forecast *forecast, const pace_device *device, const char *mode) {
    size_t sized = 0;
    forecast->host_doubt = doubt_of_catalog(device);
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_forecast_rank *rank = &forecast->ranks.items[i];
        pace_graph graph;
        PACE_TRY(pace_graph_copy(&graph, &rank->graph));
        sized += hand_over(&graph);
        PACE_TRY(add_graph(&forecast->offloaded, forecast->catalog, &graph, rank->name, device, mode));
        forecast->offloaded.items[i].start_ns = rank->start_ns;
    }
    if (sized == 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: no operator says what it computes, so it cannot be moved to a device: record its shapes "
                         "(record_shapes=True)",
                         forecast->ranks.items[0].name);
    return PACE_OK;
}

/* Transfers go; all else takes what it took, until it is priced on the CPU. */
static pace_status keep_times(pace_forecast_rank *rank, const pace_forecast_rank *of) {
    size_t count = rank->graph.launches.count;
    if (!PACE_MAKE(rank->measured_ns, count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        rank->measured_ns[i] = is_transfer(&rank->graph, &rank->graph.launches.items[i]) ? 0 : of->measured_ns[i];
    return PACE_OK;
}

/* The rank's own host costs, and what a call of the work itself costs. */
static pace_status keep_costs(pace_forecast_rank *rank, pace_catalog *catalog, const pace_forecast_rank *of) {
    pace_host_costs usual;
    pace_launch_costs launch;
    PACE_TRY(pace_host_costs_init(&usual));
    pace_status status = pace_host_costs_default(&usual, &launch, catalog, NULL, NULL);
    if (status == PACE_OK) status = pace_host_costs_init(&rank->costs);
    if (status == PACE_OK) status = pace_host_costs_pool(&rank->costs, &of->costs);
    if (status == PACE_OK)
        status = pace_host_costs_add(&rank->costs, PACE_T4, direct_call,
                                     pace_host_costs_get(&usual, PACE_T4, direct_call, true, NULL));
    pace_host_costs_free(&usual);
    return status;
}

static pace_status onload_rank(pace_forecast *forecast, const pace_forecast_rank *of) {
    pace_forecast_rank rank = {.name = of->name, .start_ns = of->start_ns};
    PACE_TRY(pace_graph_copy(&rank.graph, &of->graph));
    pace_status status = run_on_host(&rank.graph);
    if (status == PACE_OK) status = keep_times(&rank, of);
    if (status == PACE_OK) status = keep_costs(&rank, forecast->catalog, of);
    if (status == PACE_OK) status = pace_graph_check(&rank.graph);
    if (status == PACE_OK) status = PACE_PUSH(&forecast->offloaded, rank);
    if (status != PACE_OK) free_rank(&rank);
    return status;
}

pace_status pace_forecast_onload(pace_forecast *forecast) {
    forecast->host_doubt = PACE_DOUBT_HOST_CPU;
    for (size_t i = 0; i < forecast->ranks.count; i++) PACE_TRY(onload_rank(forecast, &forecast->ranks.items[i]));
    return PACE_OK;
}

/* --- running ---------------------------------------------------------------------------------------------------- */

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

double pace_forecast_rank_measured_ns(const pace_forecast_rank *rank) {
    return rank->steps_ns / (double)(rank->steps ? rank->steps : 1);
}

double pace_forecast_measured_ns(const pace_forecast *forecast) {
    double most = 0;
    PACE_ITEMS (const pace_forecast_rank, rank, &forecast->ranks)
        most = fmax(most, pace_forecast_rank_measured_ns(rank));
    return most;
}

double pace_forecast_gap(const pace_forecast *forecast, double replayed_s) {
    double measured_s = pace_forecast_measured_ns(forecast) / 1e9;
    for (size_t i = 0; i < forecast->ranks.count; i++)
        if (forecast->ranks.items[i].first_uses.count) return 0;
    return measured_s > 0 ? fabs(log(replayed_s / measured_s)) : 0;
}

void pace_forecast_doubt_replay(pace_forecast_result *result, double gap) {
    result->step_s.spread = hypot(result->step_s.spread, gap);
    result->used.added[PACE_DOUBT_WALK] = hypot(result->used.added[PACE_DOUBT_WALK], gap);
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

/* Shares of the critical path times the spread of what stands on it, and the walk's own error (DESIGN §1). */
static pace_status estimate(pace_forecast_result *result, unsigned repeats, const pace_device *device,
                            const host_doubts *of_host, const pace_doubts *doubts, bool explains) {
    double walk = doubts->figure[PACE_DOUBT_WALK];
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
        double work = fmin(host, work_of_host(result, repeats, kernels));
        host -= work;
        on_device += work;
    }
    double host_spread = of_host->moved > 0 ? hypot(of_host->own, of_host->moved) : of_host->own;
    double of_kernels = kernels_variance(result, on_device), of_exchanges = exchanges_variance(result, network);
    double variance = walk * walk + pow(host * host_spread, 2) + of_kernels + of_exchanges;
    share_doubts(&result->used, result->launch_doubts.kernels_ns, of_kernels);
    share_doubts(&result->used, result->launch_doubts.exchanges_ns, of_exchanges);
    result->used.added[PACE_DOUBT_WALK] = walk;
    if (of_host->of < PACE_DOUBTS) result->used.added[of_host->of] = host * of_host->own;
    result->used.added[PACE_DOUBT_HOST_MOVED] = host * of_host->moved;
    result->first_step = repeats - 1;
    double step_ns = pace_analysis_step_ns(&result->analysis, result->first_step);
    result->step_s = (pace_estimate){step_ns / 1e9, sqrt(variance), rung, 0};
    if (explains) result->path = path;
    else pace_critical_free(&path);
    return PACE_OK;
}

typedef struct {
    size_t count;
    pace_walk_rank *ranks;
    pace_variant *variants;
    pace_step *steps;
    const char **names;
    double **launch_ns;
} walk_room;

static bool make_room(walk_room *room, size_t count) {
    room->count = count;
    return PACE_MAKE(room->ranks, count) && PACE_MAKE(room->variants, count) && PACE_MAKE(room->steps, count) &&
           PACE_MAKE(room->names, count) && PACE_MAKE(room->launch_ns, count);
}

static void free_room(walk_room *room) {
    for (size_t i = 0; room->launch_ns && i < room->count; i++) pace_free(room->launch_ns[i]);
    for (size_t i = 0; room->variants && i < room->count; i++) pace_variant_free(&room->variants[i]);
    PACE_FREE(room->launch_ns, room->variants, room->ranks, room->steps, room->names);
}

static pace_status price_rank(walk_room *room, size_t number, pace_forecast_result *result,
                              const pace_pricing *pricing) {
    const pace_forecast_rank *rank = pricing->rank;
    const pace_graph *graph = &pricing->variant->graph;
    if (!PACE_MAKE(room->launch_ns[number], graph->launches.count + 1)) return PACE_E_MEMORY;
    PACE_TRY(pace_price_launches(room->launch_ns[number], result->families, pricing));
    PACE_TRY(pace_self_check_prices(&result->beyond, room->launch_ns[number], pricing));
    room->names[number] = rank->name;
    room->ranks[number] = (pace_walk_rank){.graph = graph,
                                           .launch_ns = room->launch_ns[number],
                                           .costs = &rank->costs,
                                           .launch_lag_ns = rank->launch.lag_ns,
                                           .between_ns = rank->launch.between_ns,
                                           .graph_lag_ns = rank->launch.graph_lag_ns,
                                           .graph_between_ns = rank->launch.graph_between_ns,
                                           .start_ns = rank->start_ns,
                                           .queue = rank->launch.queue};
    return PACE_OK;
}

static void free_steps(walk_room *room) {
    for (size_t i = 0; i < room->count; i++) pace_step_free(&room->steps[i]);
}

/* Walked as if gradients took no time, and again when it is known from that what they take. */
static pace_status exchange_and_walk(walk_room *room, pace_forecast_result *result, const pace_pricing *pricing,
                                     const pace_walk_options *options) {
    PACE_TRY(pace_walk(room->steps, room->ranks, room->count, options));
    if (!pace_scenario_has_lanes(pricing->scenario) || room->count > 1 || result->exchange.ranks < 2) return PACE_OK;
    pace_status status = pace_gradients_price(room->launch_ns[0], &result->exchange, pricing, &room->steps[0]);
    free_steps(room);
    return status == PACE_OK ? pace_walk(room->steps, room->ranks, room->count, options) : status;
}

static pace_status price_and_walk(walk_room *room, pace_forecast_result *result, const pace_forecast *forecast,
                                  const pace_scenario *scenario) {
    pace_walk_options options = {.one_launch = scenario->one_launch, .repeats = forecast->repeats};
    const pace_forecast_rank *ranks = pace_forecast_ranks(forecast, scenario);
    memcpy(options.scale, scenario->overhead_scale, sizeof options.scale);
    PACE_TRY(pace_forecast_edit(room->variants, &result->edits, forecast, scenario));
    PACE_TRY(pace_self_check_edits(room->variants, room->count));
    for (size_t i = 0; i < room->count; i++) {
        pace_pricing pricing = {forecast, &ranks[i], &room->variants[i], scenario, &result->launch_doubts, NULL};
        PACE_TRY(price_rank(room, i, result, &pricing));
    }
    if (scenario->has_approach) result->exchange.ranks = pace_gradients_ranks(&room->variants[0].graph);
    result->exchange.span = pace_gradients_span(&room->variants[0].graph);
    pace_pricing first = {forecast, &ranks[0], &room->variants[0], scenario, NULL, NULL};
    PACE_TRY(exchange_and_walk(room, result, &first, &options));
    const pace_device *device = scenario->device ? scenario->device : forecast->device;
    pace_status status = pace_self_check_walk(room->steps, room->ranks, room->count, forecast->repeats);
    if (status != PACE_OK) {
        free_steps(room);
        return status;
    }
    return pace_analysis_of_steps(&result->analysis, forecast->catalog, room->steps, room->count, room->names, device);
}

/* Ranks are walked alike; that they are not adds what the slowest of them takes longer, and the uncertainty of both. */
static void add_exchange(pace_forecast_result *result, const pace_forecast *forecast, const pace_scenario *scenario) {
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

/* Of a folded forecast what a round adds. */
static pace_status find_rounds(pace_forecast_result *result, const pace_forecast *forecast) {
    size_t count = forecast->ranks.count;
    bool steady;
    pace_fold_round *rounds = pace_alloc(count, sizeof *rounds);
    if (!rounds) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) rounds[i] = forecast->ranks.items[i].round;
    pace_status status = pace_fold_find(&steady, &result->analysis, rounds, forecast->repeats, forecast->folded);
    pace_free(rounds);
    if (status == PACE_OK) result->unsteady = !steady;
    return status;
}

pace_status pace_forecast_run(pace_forecast_result *out, const pace_forecast *forecast, const pace_scenario *scenario) {
    walk_room room = {0};
    pace_forecast_result result = {0};
    pace_status status = make_room(&room, forecast->ranks.count) ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = price_and_walk(&room, &result, forecast, scenario);
    free_room(&room);
    if (status != PACE_OK) return status;
    status = pace_self_check_matrix(&result.analysis);
    if (status == PACE_OK && forecast->folded) status = find_rounds(&result, forecast);
    const pace_device *device = scenario->device ? scenario->device : forecast->device;
    const pace_doubts *doubts = pace_cost_doubts(forecast->cost);
    host_doubts of_host = host_doubts_of(forecast, scenario);
    if (status == PACE_OK && !result.unsteady)
        status = estimate(&result, forecast->repeats, device, &of_host, doubts, scenario->explains);
    if (status == PACE_OK) {
        add_exchange(&result, forecast, scenario);
        *out = result;
    } else {
        pace_analysis_free(&result.analysis);
    }
    return status;
}

void pace_forecast_result_free(pace_forecast_result *result) {
    pace_critical_free(&result->path);
    pace_analysis_free(&result->analysis);
}
