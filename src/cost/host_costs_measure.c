#include "cost/host_costs_measure.h"

#include "base/fence.h"
#include "base/order.h"
#include "base/sort.h"
#include "step/full_queues.h"
#include "step/graph_lanes.h"
#include "step/launch_time.h"

#include <math.h>
#include <stdlib.h>

/* One range of the host's time: what an operator or call spent. */
typedef struct {
    int64_t ns;
    pace_name name; /* of the graph */
    uint32_t node;  /* whose T1 it is; else PACE_NO_NODE */
    pace_overhead_type type;
} sample;

typedef struct {
    PACE_VEC(sample) samples;
    pace_host_costs *costs;
    pace_first_uses *first_uses; /* NULL = every sample counts */
    double all_ns;               /* of all samples */
    pace_graph *graph;
    const pace_step *step;
    const pace_graph_lanes *lanes;
    pace_room_waits rooms;
    uint32_t thread;
    uint32_t *open;
    uint32_t depth, next_launch;
    uint32_t top, calls;
    int64_t since_ns;   /* up to here the thread's time has been told */
    int64_t waiting_ns; /* of the time since, spent on others */
    bool begun;         /* a gap can be told */
} measurer;

static const pace_graph_node *node_at(const measurer *m, uint32_t node) { return &m->graph->nodes.items[node]; }

static int64_t start_of(const measurer *m, uint32_t node) {
    uint32_t task = node_at(m, node)->task;
    return task == PACE_NO_TASK ? m->since_ns : m->step->start_ns[task];
}

static int64_t end_of(const measurer *m, uint32_t node) {
    uint32_t task = node_at(m, node)->task;
    return task == PACE_NO_TASK ? m->since_ns : pace_step_end_ns(m->step, task);
}

static const char *text_of(const measurer *m, pace_name name) { return pace_names_text(&m->graph->names, name); }

/* The thread's time from the last told instant to `until`, but for waiting. Each instant is told once, however ranges
 * that were rounded overlap. */
static pace_status tell_of(measurer *m, pace_overhead_type type, pace_name name, uint32_t node, int64_t until_ns) {
    if (until_ns < m->since_ns) until_ns = m->since_ns;
    int64_t ns = until_ns - m->since_ns - m->waiting_ns;
    m->since_ns = until_ns;
    m->waiting_ns = 0;
    return PACE_PUSH(&m->samples, ((sample){ns > 0 ? ns : 0, name, node, type}));
}

static pace_status tell(measurer *m, pace_overhead_type type, pace_name name, int64_t until_ns) {
    return tell_of(m, type, name, PACE_NO_NODE, until_ns);
}

static void wait_until(measurer *m, int64_t from_ns, int64_t until_ns) {
    if (from_ns < m->since_ns) from_ns = m->since_ns;
    if (until_ns > from_ns) m->waiting_ns += until_ns - from_ns;
}

/* Where the host is the device its operator is the launch: no call is made, and what it takes is waiting. */
static pace_status take_host_work(measurer *m, const pace_launch *launch) {
    if (m->top == PACE_NO_NODE) return PACE_OK;
    return tell(m, m->calls++ ? PACE_T5 : PACE_T2, node_at(m, m->top)->name, m->step->start_ns[launch->task]);
}

static pace_status take_launch(measurer *m, uint32_t number) {
    const pace_launch *launch = &m->graph->launches.items[number];
    if (launch->task != PACE_NO_TASK && !pace_task_on_device(m->step->kind[launch->task]))
        return take_host_work(m, launch);
    uint32_t call = launch->task == PACE_NO_TASK ? PACE_NO_TASK : pace_task_cause(m->step, launch->task);
    if (launch->same_call || call == PACE_NO_TASK || m->step->kind[call] != PACE_TASK_CALL) return PACE_OK;
    if (m->top == PACE_NO_NODE) return PACE_OK;
    pace_name name = node_at(m, m->top)->name;
    PACE_TRY(tell(m, m->calls ? PACE_T5 : PACE_T2, name, m->step->start_ns[call]));
    m->calls++;
    if (node_at(m, launch->node)->task == call && node_at(m, launch->node)->waits_launch != PACE_NO_LAUNCH) {
        /* a blocking copy: its wait ends with it, so the call takes what is left */
        const pace_graph_node *node = node_at(m, launch->node);
        uint32_t on = m->graph->launches.items[node->waits_launch].task;
        int64_t until = on == PACE_NO_TASK ? m->since_ns : pace_step_end_ns(m->step, on);
        int64_t end = pace_step_end_ns(m->step, call);
        wait_until(m, m->since_ns, until < end ? until : end);
    } else {
        wait_until(m, m->since_ns, pace_room_ns(&m->rooms, m->step, call));
    }
    return tell(m, PACE_T4, launch->call, pace_step_end_ns(m->step, call));
}

static void take_waits(measurer *m, uint32_t number) {
    const pace_graph_node *node = node_at(m, number);
    int64_t end = end_of(m, number), until = INT64_MIN;
    if (node->waits_launch != PACE_NO_LAUNCH) {
        uint32_t on = m->graph->launches.items[node->waits_launch].task;
        if (on != PACE_NO_TASK) until = pace_step_end_ns(m->step, on);
    }
    if (node->waits_node != PACE_NO_NODE && end_of(m, node->waits_node) > until) until = end_of(m, node->waits_node);
    wait_until(m, start_of(m, number), until < end ? until : end);
}

static pace_status end_node(measurer *m) {
    uint32_t number = m->open[--m->depth];
    take_waits(m, number);
    if (number != m->top) return PACE_OK;
    if (node_at(m, number)->spends_ns >= 0) { /* no overhead: the node itself says what it takes */
        m->top = PACE_NO_NODE;
        m->begun = true;
        m->waiting_ns = 0;
        if (end_of(m, number) > m->since_ns) m->since_ns = end_of(m, number);
        return PACE_OK;
    }
    pace_overhead_type type = m->calls ? PACE_T3 : node_at(m, number)->kind == PACE_TASK_CALL ? PACE_T4 : PACE_T5;
    m->top = PACE_NO_NODE;
    m->begun = true;
    return tell(m, type, node_at(m, number)->name, end_of(m, number));
}

static pace_status take_launches_before(measurer *m, uint32_t number) {
    for (; m->next_launch < m->lanes->launches.first[m->thread + 1]; m->next_launch++) {
        uint32_t next = m->lanes->launches.items[m->next_launch];
        const pace_launch *launch = &m->graph->launches.items[next];
        if (launch->place > number) return PACE_OK;
        while (m->depth && m->open[m->depth - 1] != launch->node) PACE_TRY(end_node(m));
        PACE_TRY(take_launch(m, next));
    }
    return PACE_OK;
}

/* The first gap is from where another thread let this one begin, or the annotations around it do; without either there
 * is none. */
static void begin_thread(measurer *m, uint32_t number) {
    uint32_t outermost = m->open[0], after = node_at(m, number)->after;
    m->since_ns = after == PACE_NO_NODE ? start_of(m, outermost) : end_of(m, after);
    m->begun = outermost != number || after != PACE_NO_NODE;
}

static pace_status begin_node(measurer *m, uint32_t number) {
    const pace_graph_node *node = node_at(m, number);
    PACE_TRY(take_launches_before(m, number));
    while (m->depth && m->open[m->depth - 1] != node->parent) PACE_TRY(end_node(m));
    m->open[m->depth++] = number;
    if (node->kind == PACE_TASK_ANNOTATION || m->top != PACE_NO_NODE) return PACE_OK;
    m->top = number;
    m->calls = 0;
    if (!m->begun) begin_thread(m, number);
    if (node->after != PACE_NO_NODE) {
        int64_t until = end_of(m, node->after), start = start_of(m, number);
        wait_until(m, m->since_ns, until < start ? until : start);
    }
    return m->begun ? tell_of(m, PACE_T1, node->name, number, start_of(m, number)) : PACE_OK;
}

static pace_status take_thread(measurer *m) {
    const pace_lane_lists *nodes = &m->lanes->nodes;
    m->depth = 0;
    m->next_launch = m->lanes->launches.first[m->thread];
    m->top = PACE_NO_NODE;
    m->begun = false;
    m->waiting_ns = 0;
    for (uint32_t i = nodes->first[m->thread]; i < nodes->first[m->thread + 1]; i++)
        PACE_TRY(begin_node(m, nodes->items[i]));
    PACE_TRY(take_launches_before(m, (uint32_t)m->graph->nodes.count));
    while (m->depth) PACE_TRY(end_node(m));
    return PACE_OK;
}

/* --- pooled ------------------------------------------------------------------------------------------------------- */

PACE_ORDER(by_name_and_time, sample, PACE_UP(type) PACE_UP(name) PACE_UP(ns))

/* The first use of a library, a kernel or a buffer takes a thousand times as long as the next. How many of `count`
 * samples, shortest first, remain when such are left out: outside the fence, far from it, and a part of all time that
 * matters. */
static size_t without_first_uses(const measurer *m, const int64_t *times, size_t count) {
    enum { FAR = 10, LEAST_PERCENT = 1 };
    size_t low, high;
    pace_fence(&low, &high, times, count);
    double usual = fmax(1, (double)times[high - 1]);
    while (high < count && ((double)times[high] < FAR * usual || 100 * (double)times[high] < LEAST_PERCENT * m->all_ns))
        high++;
    return high;
}

static void count_first_uses(measurer *m, const sample *samples, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        double ns = (double)samples[i].ns;
        m->first_uses->count++;
        m->first_uses->total_ns += ns;
        if (ns > m->first_uses->longest_ns) m->first_uses->longest_ns = ns, m->first_uses->longest = samples[i].name;
    }
}

/* A gap far longer than others before operators of its name is of the place: Python code, a lock. How many of `count`
 * samples, shortest first, are none. Where a loop pauses before some of them in every step, part of all are long: those
 * of more than a millisecond are of their places, too. */
static size_t without_pauses(const int64_t *times, size_t count) {
    enum { FEW = 4, FAR = 3, LEAST_NS = 20000, LONG_NS = 1000000 };
    size_t low, high, brief = count;
    while (brief > 0 && times[brief - 1] > LONG_NS) brief--;
    if (brief == 0) brief = count;
    if (count < FEW) return brief;
    pace_fence(&low, &high, times, count);
    int64_t usual = times[high - 1], least = usual < LEAST_NS / (FAR - 1) ? usual + LEAST_NS : FAR * usual;
    while (high < count && times[high] < least) high++;
    return high < brief ? high : brief;
}

/* The samples of one name and type. */
static pace_status pool(measurer *m, const sample *first, size_t count, int64_t *times) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) times[i] = first[i].ns;
    size_t kept = m->first_uses ? without_first_uses(m, times, count) : count;
    if (kept < count) count_first_uses(m, first, kept, count);
    size_t usual = first->type == PACE_T1 ? without_pauses(times, kept) : kept;
    for (size_t i = 0; i < usual; i++) sum += (double)times[i];
    double mean = sum / (double)usual;
    for (size_t i = 0; i < usual; i++) squares += ((double)times[i] - mean) * ((double)times[i] - mean);
    for (size_t i = usual; i < kept; i++) m->graph->nodes.items[first[i].node].pause_ns += times[i] - llround(mean);
    return pace_host_costs_add(m->costs, first->type, text_of(m, first->name),
                               (pace_host_cost){mean, sqrt(squares / (double)usual), (double)kept});
}

static pace_status pool_all(measurer *m) {
    size_t count = m->samples.count;
    const sample *samples = m->samples.items;
    int64_t *times = pace_alloc(count + 1, sizeof *times);
    pace_status status = times ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) m->all_ns += (double)samples[i].ns;
    if (count) qsort(m->samples.items, count, sizeof *samples, by_name_and_time);
    for (size_t i = 0, end; status == PACE_OK && i < count; i = end) {
        for (end = i + 1; end < count && samples[end].type == samples[i].type && samples[end].name == samples[i].name;)
            end++;
        status = pool(m, &samples[i], end - i, times);
    }
    pace_free(times);
    return status;
}

/* --- how launches reach the device ---------------------------------------------------------------------------- */

typedef struct {
    PACE_VEC(int64_t) lags, gaps;
} launch_samples;

/* A stream that was still busy when the call began was in line, one that had long been free waited for the launch. What
 * one call issues, a device graph, is in line from its second piece on. */
static pace_status sample_launch(launch_samples *out, const pace_graph *graph, const pace_step *step, uint32_t number,
                                 int64_t free_ns) {
    const pace_launch *launch = &graph->launches.items[number];
    uint32_t call = pace_task_cause(step, launch->task);
    if (call == PACE_NO_TASK || step->kind[call] != PACE_TASK_CALL) return PACE_OK;
    int64_t start = step->start_ns[launch->task], called = step->start_ns[call];
    bool waits = pace_launch_waits(launch);
    if (waits || start < called) return PACE_OK;
    int64_t free_by = pace_launch_of_several(graph, number) ? pace_step_end_ns(step, call) : called; /* a long call */
    if (free_ns <= free_by && !launch->same_call) return PACE_PUSH(&out->lags, start - called);
    bool behind = launch->same_call && launch[-1].stream == launch->stream;
    bool in_line = !launch->same_call && free_ns > pace_step_end_ns(step, call) + 20000;
    return (behind || in_line) && start >= free_ns ? PACE_PUSH(&out->gaps, start - free_ns) : PACE_OK;
}

/* When the work in front of a task on its stream had ended, of which the graph need not be; INT64_MIN = none was. */
static int64_t ended_before(const pace_step *step, uint32_t task) {
    uint32_t first = step->lanes.items[pace_task_lane(step, task)].first;
    while (task > first)
        if (pace_task_on_device(step->kind[--task])) return pace_step_end_ns(step, task);
    return INT64_MIN;
}

static double median_of(int64_t *items, size_t count) {
    int64_t *scratch = count ? pace_alloc(count, sizeof *scratch) : NULL;
    double median = NAN;
    if (scratch) {
        pace_sort_ns(items, scratch, count);
        median = (double)(items[(count - 1) / 2] + items[count / 2]) / 2;
    }
    pace_free(scratch);
    return median;
}

/* Of those that hide no kernels. A median of whole microseconds, as older profilers write times, is off by half of
 * one. */
static double mean_within_graphs(const int64_t *gaps, size_t count) {
    double sum = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (gaps[i] <= PACE_LAUNCH_REACHES_NS) sum += (double)gaps[i], kept++;
    return kept > 0 ? sum / kept : NAN;
}

/* What graphs take beyond other launches; where these show nothing, what graphs take. */
static void set_apart(double *usual_ns, double *more_ns, double graphs_ns) {
    if (isnan(*usual_ns)) *usual_ns = graphs_ns;
    *more_ns = isnan(graphs_ns) ? 0 : graphs_ns - *usual_ns;
}

static pace_status measure_launches(pace_launch_costs *out, const pace_graph *graph, const pace_step *step) {
    launch_samples single = {0}, graphs = {0};
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < graph->launches.count; i++) {
        uint32_t task = graph->launches.items[i].task;
        launch_samples *to = pace_launch_of_several(graph, i) ? &graphs : &single;
        if (task != PACE_NO_TASK) status = sample_launch(to, graph, step, i, ended_before(step, task));
    }
    if (status == PACE_OK) {
        *out = (pace_launch_costs){.lag_ns = median_of(single.lags.items, single.lags.count),
                                   .between_ns = median_of(single.gaps.items, single.gaps.count)};
        set_apart(&out->lag_ns, &out->graph_lag_ns, median_of(graphs.lags.items, graphs.lags.count));
        set_apart(&out->between_ns, &out->graph_between_ns, mean_within_graphs(graphs.gaps.items, graphs.gaps.count));
    }
    PACE_VEC_FREE(&single.lags, &single.gaps, &graphs.lags, &graphs.gaps);
    return status;
}

pace_status pace_host_costs_measure(pace_host_costs *costs, pace_launch_costs *launch, pace_first_uses *first_uses,
                                    pace_graph *graph, const pace_step *step) {
    measurer m = {.costs = costs, .first_uses = first_uses, .graph = graph, .step = step};
    m.open = pace_alloc(graph->nodes.count + 1, sizeof *m.open);
    pace_graph_lanes lanes;
    pace_status status = pace_graph_lanes_of(&lanes, graph);
    m.lanes = &lanes;
    if (!m.open) status = PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_room_waits_find(&m.rooms, step);
    for (m.thread = 0; status == PACE_OK && m.thread < graph->thread_count; m.thread++) status = take_thread(&m);
    if (status == PACE_OK) status = pool_all(&m);
    pace_free(m.open);
    pace_graph_lanes_free(&lanes);
    PACE_VEC_FREE(&m.samples, &m.rooms);
    if (status == PACE_OK) status = measure_launches(launch, graph, step);
    return status;
}
