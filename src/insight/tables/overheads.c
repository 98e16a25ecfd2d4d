#include "insight/tables/overheads.h"

#include "base/fence.h"
#include "base/order.h"
#include "base/sort.h"
#include "base/text.h"
#include "step/full_queues.h"

#include <math.h>
#include <string.h>

static const int64_t shortest_t1_ns = 2000, longest_t1_ns = 200000; /* both excluded */

void pace_overheads_free(pace_overheads *overheads) {
    PACE_VEC_FREE(&overheads->rows, &overheads->samples);
    *overheads = (pace_overheads){0};
}

/* --- runtime calls ---------------------------------------------------------------------------------------- */

typedef enum { CALL_IGNORED, CALL_SYNC, CALL_WORK } call_class;

static call_class classify(const char *name) {
    static const char *const work[] = {"cudaLaunchKernel",   "cuLaunchKernel",
                                       "hipLaunchKernel",    "hipModuleLaunchKernel",
                                       "hipExtLaunchKernel", "hipExtModuleLaunchKernel",
                                       "cudaMemset",         "hipMemset",
                                       "hipMemcpy"};
    for (size_t i = 0; i < PACE_COUNT(work); i++)
        if (pace_starts(name, work[i])) return CALL_WORK;
    if (pace_starts(name, "cudaMemcpy") && strstr(name, "Async")) return CALL_WORK;
    return pace_starts(name, "cudaStreamSynchronize") || pace_starts(name, "hipStreamSynchronize") ? CALL_SYNC
                                                                                                   : CALL_IGNORED;
}

/* --- one pass over each lane ------------------------------------------------------------------------------- */

typedef struct {
    const pace_step *step;
    double event_ns;
    pace_room_waits rooms;
    bool host_only;   /* there is nothing to launch on: an operator without a call is the work itself */
    uint32_t *row_of; /* type * names + name -> row + 1 */
    PACE_VEC(pace_overhead_row) rows;
    PACE_VEC(int64_t) samples;      /* as they come */
    PACE_VEC(uint32_t) sample_rows; /* of which row each is */

    /* on the lane */
    uint32_t around[PACE_STEP_DEPTH]; /* the annotations that are open, inwards */
    size_t depth;
    uint32_t op;         /* the last top-level operator begun */
    uint32_t op_within;  /* the annotation around it; PACE_NO_TASK = none */
    bool open;           /* the task at hand is still inside it */
    size_t calls;        /* of the operator, so far */
    size_t events;       /* recorded in the operator since `since_ns` */
    int64_t since_ns;    /* end of the operator's last call, or its start */
    int64_t call_end_ns; /* of the last call on the lane */
} measurer;

static pace_status add_sample(measurer *m, pace_overhead_type type, pace_name name, int64_t ns, size_t events) {
    uint32_t *row = &m->row_of[(size_t)type * pace_names_count(&m->step->names) + name];
    if (!*row) {
        PACE_TRY(PACE_PUSH(&m->rows, ((pace_overhead_row){.type = type, .name = name})));
        *row = (uint32_t)m->rows.count;
    }
    int64_t sample_ns = m->event_ns > 0 ? llround((double)ns - m->event_ns * (double)events) : ns;
    if (sample_ns < 0) sample_ns = 0;
    m->rows.items[*row - 1].count++;
    m->rows.items[*row - 1].sum_ns += (double)sample_ns;
    PACE_TRY(PACE_PUSH(&m->sample_rows, *row - 1));
    return PACE_PUSH(&m->samples, sample_ns);
}

static pace_status close_op(measurer *m) {
    if (!m->open) return PACE_OK;
    m->open = false;
    if (m->host_only) return PACE_OK;
    pace_overhead_type type = m->calls ? PACE_T3 : PACE_T5;
    return add_sample(m, type, m->step->name[m->op], pace_step_end_ns(m->step, m->op) - m->since_ns, m->events);
}

static pace_status open_op(measurer *m, uint32_t task) {
    const pace_step *step = m->step;
    uint32_t before = m->op, before_within = m->op_within;
    m->op = task;
    m->op_within = m->depth ? m->around[m->depth - 1] : PACE_NO_TASK;
    m->open = true;
    m->calls = m->events = 0;
    m->since_ns = step->start_ns[task];
    if (before == PACE_NO_TASK || before_within != m->op_within) return PACE_OK;
    int64_t gap = step->start_ns[task] - pace_step_end_ns(step, before);
    if (gap <= shortest_t1_ns || gap >= longest_t1_ns) return PACE_OK;
    return add_sample(m, PACE_T1, 0, gap, 1);
}

static pace_status add_call(measurer *m, uint32_t task, call_class class) {
    const pace_step *step = m->step;
    m->call_end_ns = pace_step_end_ns(step, task);
    int64_t own_ns = m->call_end_ns - pace_room_ns(&m->rooms, step, task);
    if (class == CALL_WORK) PACE_TRY(add_sample(m, PACE_T4, step->name[task], own_ns, 1));
    if (!m->open) return PACE_OK;
    pace_overhead_type type = m->calls++ ? PACE_T5 : PACE_T2;
    PACE_TRY(add_sample(m, type, step->name[m->op], step->start_ns[task] - m->since_ns, m->events));
    m->since_ns = m->call_end_ns;
    m->events = 0;
    return PACE_OK;
}

/* What hangs under an operator stands right behind it without a break (pace_step_finish), so the task at hand is
 * inside the open operator exactly when its parent is not before that operator. */
static pace_status take_task(measurer *m, uint32_t task) {
    const pace_step *step = m->step;
    uint32_t parent = pace_task_parent(step, task);
    bool label = step->kind[task] == PACE_TASK_OP && pace_name_is_label(pace_step_name(step, task));
    bool annotation = label || step->kind[task] == PACE_TASK_ANNOTATION;
    while (m->depth && (parent == PACE_NO_TASK || parent < m->around[m->depth - 1])) m->depth--;
    if (annotation && m->depth < PACE_STEP_DEPTH) m->around[m->depth++] = task;
    if (parent == PACE_NO_TASK || parent < m->op) PACE_TRY(close_op(m));
    if (!m->open && !label && step->kind[task] == PACE_TASK_OP) return open_op(m, task);
    if (step->start_ns[task] < m->call_end_ns) return PACE_OK; /* part of that call */
    call_class class = step->kind[task] == PACE_TASK_CALL ? classify(pace_step_name(step, task)) : CALL_IGNORED;
    if (class != CALL_IGNORED) return add_call(m, task, class);
    m->events += m->open;
    return PACE_OK;
}

static pace_status take_lane(measurer *m, const pace_lane *lane) {
    m->op = PACE_NO_TASK;
    m->open = false;
    m->depth = 0;
    m->call_end_ns = INT64_MIN;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) PACE_TRY(take_task(m, task));
    return close_op(m);
}

static pace_status take_step(measurer *m) {
    const pace_step *step = m->step;
    if (!PACE_MAKE(m->row_of, pace_names_count(&step->names) * PACE_OVERHEAD_TYPES)) return PACE_E_MEMORY;
    PACE_TRY(pace_room_waits_find(&m->rooms, step));
    for (size_t i = 0; i < step->lanes.count; i++)
        if (!step->lanes.items[i].device) PACE_TRY(take_lane(m, &step->lanes.items[i]));
    return PACE_OK;
}

/* --- statistics -------------------------------------------------------------------------------------------- */

/* Sorts a copy in `scratch` (room for two); what the fence keeps of it is one range. */
static void summarize(pace_overhead_row *row, const int64_t *samples, int64_t *scratch) {
    if (row->count == 0) return;
    memcpy(scratch, samples, row->count * sizeof *scratch);
    pace_sort_ns(scratch, scratch + row->count, row->count);
    double sum = 0, squares = 0;
    size_t low, high;
    pace_fence(&low, &high, scratch, row->count);
    row->kept = high - low;
    for (size_t i = low; i < high; i++) sum += (double)scratch[i];
    row->mean_ns = sum / (double)row->kept;
    for (size_t i = low; i < high; i++)
        squares += ((double)scratch[i] - row->mean_ns) * ((double)scratch[i] - row->mean_ns);
    row->std_ns = sqrt(squares / (double)row->kept);
    row->median_ns = pace_quantile_ns(scratch + low, row->kept, 0.5);
}

/* `first_sample` holds the row's number as found until place_samples(). */
PACE_ORDER(by_type_and_sum, pace_overhead_row, PACE_UP(type) PACE_DOWN(sum_ns) PACE_UP(name))

/* Gives each sorted row its range and puts the samples there, in the order recorded. */
static void place_samples(measurer *m, int64_t *placed, size_t *next) {
    size_t first = 0;
    PACE_ITEMS (pace_overhead_row, row, &m->rows) {
        next[row->first_sample] = first;
        row->first_sample = first;
        first += row->count;
    }
    for (size_t i = 0; i < m->samples.count; i++) placed[next[m->sample_rows.items[i]]++] = m->samples.items[i];
}

static void add_to_total(pace_overhead_row *total, const pace_overhead_row *row) {
    if (total->count == 0) total->first_sample = row->first_sample;
    total->count += row->count;
    total->sum_ns += row->sum_ns;
}

static void fill(pace_overheads *out, measurer *m, int64_t *placed, size_t count, int64_t *scratch) {
    out->samples.items = placed;
    out->samples.count = out->samples.capacity = count;
    out->rows.items = m->rows.items;
    out->rows.count = m->rows.count;
    out->rows.capacity = m->rows.capacity;
    m->rows.items = NULL;
    PACE_ITEMS (pace_overhead_row, row, &out->rows) {
        summarize(row, placed + row->first_sample, scratch);
        add_to_total(&out->total[row->type], row);
    }
    for (size_t i = 0; i < PACE_OVERHEAD_TYPES; i++) {
        out->total[i].type = (pace_overhead_type)i;
        summarize(&out->total[i], placed + out->total[i].first_sample, scratch);
    }
}

/* Samples of the type that has most. */
static size_t most_of_a_type(const measurer *m) {
    size_t counts[PACE_OVERHEAD_TYPES] = {0}, most = 0;
    for (size_t i = 0; i < m->rows.count; i++) {
        size_t *count = &counts[m->rows.items[i].type];
        *count += m->rows.items[i].count;
        if (*count > most) most = *count;
    }
    return most;
}

/* What has been read is given back before there is room to sort: both together would be the most memory of a report. */
static pace_status finish(pace_overheads *out, measurer *m) {
    size_t count = m->samples.count;
    for (size_t i = 0; i < m->rows.count; i++) m->rows.items[i].first_sample = i;
    PACE_SORT(&m->rows, by_type_and_sum);
    int64_t *placed = pace_alloc(count + 1, sizeof *placed);
    size_t *next = pace_alloc(m->rows.count + 1, sizeof *next);
    if (placed && next) place_samples(m, placed, next);
    bool ready = placed && next;
    PACE_VEC_FREE(&m->samples, &m->sample_rows);
    int64_t *scratch = ready ? pace_alloc(2 * most_of_a_type(m) + 1, sizeof *scratch) : NULL;
    if (scratch) fill(out, m, placed, count, scratch);
    else pace_free(placed);
    pace_free(next);
    bool made = scratch != NULL;
    pace_free(scratch);
    return made ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_overheads_measure(pace_overheads *out, const pace_rank *rank, double profiler_event_ns) {
    *out = (pace_overheads){0};
    bool host_only = rank->work.host_is_device && rank->step.kind_count[PACE_TASK_CALL] == 0;
    measurer m = {.step = &rank->step, .event_ns = profiler_event_ns, .host_only = host_only};
    pace_status status = take_step(&m);
    if (status == PACE_OK) status = finish(out, &m);
    pace_free(m.row_of);
    PACE_VEC_FREE(&m.rows, &m.samples, &m.sample_rows, &m.rooms);
    return status;
}
