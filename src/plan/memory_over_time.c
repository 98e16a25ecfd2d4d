#include "plan/memory_over_time.h"

#include "model/pipeline_fold.h"
#include "model/pipeline_stages.h"

#include <string.h>

/* Kernels and copies of one step on stream 0, in order. */
typedef struct {
    const pace_step *step;
    uint32_t first, count;
} kernels;

static bool find_kernels(kernels *out, const pace_step *step, uint32_t in_step) {
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (!lane->device || strcmp(pace_names_text(&step->names, lane->key), "device 0 stream 0") != 0) continue;
        if (in_step == 0 || lane->count < in_step || lane->count % in_step) return false;
        *out = (kernels){step, lane->first + lane->count - in_step, in_step};
        return true;
    }
    return false;
}

static int64_t start_of(const kernels *k, uint32_t number) {
    return k->step->start_ns[k->first + (number < k->count ? number : k->count - 1)];
}

static int64_t end_of(const kernels *k, uint32_t number) {
    uint32_t task = k->first + number;
    return k->step->start_ns[task] + pace_task_ns(k->step, task);
}

static uint32_t computes_of(const pace_graph *graph) {
    uint32_t count = 0;
    for (size_t i = 0; i < graph->launches.count; i++) count += graph->launches.items[i].stream == 0;
    return count;
}

typedef struct {
    pace_memory_points *out;
    const kernels *of;
    const pace_step_plan *plan;
    uint32_t stage;
    int64_t from_ns;
    double held_bytes;
} writer;

static pace_status hold(writer *w, int64_t at_ns, double bytes) {
    int64_t at = at_ns > w->from_ns ? at_ns - w->from_ns : 0;
    w->held_bytes += bytes;
    return PACE_PUSH(w->out, ((pace_memory_point){at, w->held_bytes}));
}

/* Kernels from `first` to before `end` are a turn's. Gradients of weights need what forward kept. */
static pace_status take_turn(writer *w, const pace_turn *turn, uint32_t first, uint32_t end) {
    double kept = pace_step_kept_bytes(w->plan, w->stage, turn->chunk);
    double again = pace_step_again_bytes(w->plan, w->stage);
    if (end <= first) return PACE_OK;
    if (turn->pass == PACE_TURN_FORWARD) return hold(w, end_of(w->of, end - 1), kept);
    bool frees = turn->pass != PACE_TURN_INPUTS, forms = turn->pass != PACE_TURN_WEIGHTS && again > 0;
    if (forms) PACE_TRY(hold(w, start_of(w->of, first), again));
    if (!forms && !frees) return PACE_OK;
    return hold(w, end_of(w->of, end - 1), -(forms ? again : 0) - (frees ? kept : 0));
}

static pace_status take_turns(writer *w, const pace_graph *graph, const pace_turns *turns) {
    uint32_t before = 0;
    for (size_t i = 0; i < turns->count; i++) {
        PACE_TRY(take_turn(w, &turns->items[i], before, graph->turn_ends.items[i]));
        before = graph->turn_ends.items[i];
    }
    return PACE_OK;
}

static double states_of(const pace_step_plan *plan, uint32_t stage) {
    pace_step_memory memory = pace_step_stage_memory(plan, stage);
    return memory.fixed_bytes;
}

/* The turns of a stage that was walked with so many rounds fewer. */
static pace_status walked_turns(pace_turns *out, const pace_step_plan *plan, uint32_t stage, uint32_t left_out) {
    pace_pipeline pipeline = pace_config_pipeline(&plan->config);
    pipeline.micro_batches -= left_out * pace_pipeline_round(&pipeline);
    return pace_pipeline_order(out, &pipeline, stage);
}

/* Puts what was left out of a step behind the round, from `from_ns` on, that stands for it. */
static pace_status put_rounds_in(pace_memory_points *points, const pace_step_fold *fold, int64_t from_ns) {
    pace_memory_points whole = {0};
    pace_status status = PACE_OK;
    int64_t to_ns = from_ns + fold->period_ns;
    size_t first = 0, end = 0;
    while (first < points->count && points->items[first].at_ns < from_ns) first++;
    for (end = first; end < points->count && points->items[end].at_ns < to_ns; end++) {}
    for (size_t i = 0; status == PACE_OK && i < end; i++) status = PACE_PUSH(&whole, points->items[i]);
    for (uint32_t k = 1; k <= fold->times + 1; k++)
        for (size_t i = k > fold->times ? end : first; status == PACE_OK && i < (k > fold->times ? points->count : end);
             i++) {
            pace_memory_point point = points->items[i];
            point.at_ns += (k > fold->times ? fold->times : k) * fold->period_ns;
            status = PACE_PUSH(&whole, point);
        }
    PACE_VEC_FREE(points);
    *points = whole;
    return status;
}

/* Of a stage (from 0) that was walked as this rank. `graph` is what was walked; none where it has no turns, or was
 * edited since it was lowered. */
static pace_status memory_of_stage(pace_memory_points *out, const pace_rank *walked, const pace_graph *graph,
                                   const pace_step_plan *plan, uint32_t stage) {
    const pace_step_fold *fold = &walked->fold;
    pace_memory_points points = {0};
    pace_turns turns;
    kernels of;
    *out = points;
    if (walked->marks.items.count == 0 || !find_kernels(&of, &walked->step, computes_of(graph))) return PACE_OK;
    PACE_TRY(walked_turns(&turns, plan, stage, fold->times));
    pace_status status = PACE_OK;
    writer w = {&points, &of, plan, stage, walked->marks.items.items[walked->marks.items.count - 1].from_ns, 0};
    if (turns.count == graph->turn_ends.count) {
        status = hold(&w, w.from_ns, states_of(plan, stage));
        if (status == PACE_OK) status = take_turns(&w, graph, &turns);
        size_t last = walked->marks.items.count - 1;
        if (status == PACE_OK && fold->times) status = put_rounds_in(&points, fold, fold->from_ns[last] - w.from_ns);
    }
    PACE_VEC_FREE(&turns);
    return PACE_GIVE(out, points, status, PACE_VEC_FREE(&points));
}

const pace_memory_point *pace_memory_fullest(const pace_memory_points *points) {
    const pace_memory_point *most = NULL;
    for (size_t i = 0; i < points->count; i++)
        if (!most || points->items[i].held_bytes > most->held_bytes) most = &points->items[i];
    return most;
}

void pace_memory_series_free(pace_memory_series *series) {
    for (size_t i = 0; i < series->count; i++) PACE_VEC_FREE(&series->stages[i]);
    pace_free(series->stages);
    *series = (pace_memory_series){0};
}

pace_status pace_memory_series_of(pace_memory_series *out, const pace_analysis *walked, const pace_graph *const *graphs,
                                  size_t count, const pace_step_plan *plan) {
    pace_memory_series series = {.stages = pace_alloc(count + 1, sizeof *series.stages)};
    pace_status status = series.stages ? PACE_OK : PACE_E_MEMORY;
    while (status == PACE_OK && series.count < count && series.count < walked->ranks.count) {
        size_t at = series.count++;
        status = memory_of_stage(&series.stages[at], walked->ranks.items[at], graphs[at], plan, (uint32_t)at);
    }
    return PACE_GIVE(out, series, status, pace_memory_series_free(&series));
}
