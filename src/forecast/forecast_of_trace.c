/* A forecast of a measured analysis: what is walked of each rank, how long its launches took, whom exchanges met. */
#include "cost/host_costs_catalog.h"
#include "forecast/first_step.h"
#include "forecast/forecast.h"
#include "forecast/forecast_rank.h"
#include "insight/steps/step_choice.h"
#include "source/graphs/graph_from_step.h"

#include <math.h>

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
    if (status != PACE_OK) pace_forecast_rank_free(&rank);
    return status;
}

static void start_at_the_first(pace_forecast *forecast) {
    double first = forecast->ranks.items[0].start_ns;
    for (size_t i = 0; i < forecast->ranks.count; i++)
        if (forecast->ranks.items[i].start_ns < first) first = forecast->ranks.items[i].start_ns;
    for (size_t i = 0; i < forecast->ranks.count; i++) forecast->ranks.items[i].start_ns -= first;
}

pace_status pace_forecast_of_analysis(pace_forecast *out, const pace_analysis *measured, const char *steps) {
    pace_forecast forecast = {.catalog = measured->devices.documents,
                              .measured = measured,
                              .device = pace_analysis_slowest(measured)->device,
                              .host_doubt = PACE_DOUBTS,
                              .repeats = 1};
    pace_status status = pace_forecast_make_ladder(&forecast);
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
