#include "insight/tables/launches.h"

#include "base/order.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdlib.h>

static pace_status read_ns(int64_t *out, const pace_yaml *yaml, const char *key) {
    const pace_yaml_node *node;
    double seconds;
    PACE_TRY(pace_yaml_member(&node, yaml, pace_yaml_root(yaml), key));
    PACE_TRY(pace_yaml_positive(&seconds, yaml, node, "value_s", 1));
    *out = llround(seconds * 1e9);
    return PACE_OK;
}

pace_status pace_launch_limits_load(pace_launch_limits *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    const pace_yaml_node *node;
    pace_launch_limits limits;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "launches.yaml"));
    PACE_TRY(read_ns(&limits.short_work_ns, yaml, "short_work"));
    PACE_TRY(read_ns(&limits.long_call_ns, yaml, "long_call"));
    PACE_TRY(read_ns(&limits.long_delay_ns, yaml, "long_delay"));
    PACE_TRY(pace_yaml_member(&node, yaml, pace_yaml_root(yaml), "full_queue"));
    PACE_TRY(pace_yaml_whole(&limits.full_queue, yaml, node, "launches", 1, 1 << 30));
    *out = limits;
    return PACE_OK;
}

/* A piece of work and the call that launched it. */
typedef struct {
    uint32_t call, task;
    bool first; /* that the call launched: a graph's launch starts many pieces */
} launched;

typedef struct {
    const pace_step *step;
    const pace_launch_limits *limits;
    size_t names;
    size_t
        *end; /* name of a call -> where its pieces end among `pieces`; those of the name before end where they begin */
    launched *pieces; /* by the name of their calls */
    size_t count;
    unsigned char *seen; /* of a call: one of its pieces was met */
    int64_t *calls, *delays, *scratch;
} measurer;

/* The call that launched a chosen piece; else PACE_NO_TASK. */
static uint32_t call_of(const pace_step *step, const pace_work_item *item, const pace_work_choice *choice) {
    uint32_t call = pace_work_is_chosen(item, choice) ? pace_task_cause(step, item->task) : PACE_NO_TASK;
    return call != PACE_NO_TASK && step->kind[call] == PACE_TASK_CALL ? call : PACE_NO_TASK;
}

/* By counting: names of calls are few. */
static void gather(measurer *m, const pace_work *work, const pace_work_choice *choice) {
    for (size_t i = 0; i < work->items.count; i++) {
        uint32_t call = call_of(m->step, &work->items.items[i], choice);
        if (call != PACE_NO_TASK) m->end[m->step->name[call]]++;
    }
    for (size_t n = 0; n < m->names; n++) {
        size_t own = m->end[n];
        m->end[n] = m->count;
        m->count += own;
    }
    for (size_t i = 0; i < work->items.count; i++) {
        uint32_t call = call_of(m->step, &work->items.items[i], choice);
        if (call == PACE_NO_TASK) continue;
        m->pieces[m->end[m->step->name[call]]++] = (launched){call, work->items.items[i].task, !m->seen[call]};
        m->seen[call] = 1;
    }
}

static int64_t delay_of(const pace_step *step, const launched *piece) {
    int64_t delay_ns = step->start_ns[piece->task] - pace_step_end_ns(step, piece->call);
    return delay_ns > 0 ? delay_ns : 0;
}

static pace_launch_row measure(measurer *m, pace_name name, const launched *pieces, size_t count) {
    const pace_step *step = m->step;
    pace_launch_row row = {.call = name};
    size_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t call_ns = pace_task_ns(step, pieces[i].call), work_ns = pace_task_ns(step, pieces[i].task);
        m->delays[i] = delay_of(step, &pieces[i]);
        row.long_delays += m->delays[i] > m->limits->long_delay_ns;
        row.below_call += work_ns < call_ns;
        if (work_ns < m->limits->short_work_ns) {
            row.short_work++;
            row.short_work_ns += work_ns;
        }
        if (!pieces[i].first) continue;
        m->calls[calls++] = call_ns;
        row.long_calls += call_ns > m->limits->long_call_ns;
    }
    row.calls = pace_distribution_of(m->calls, m->scratch, calls);
    row.delays = pace_distribution_of(m->delays, m->scratch, count);
    return row;
}

PACE_ORDER(by_time, pace_launch_row, PACE_DOWN(calls.sum_ns) PACE_UP(call))

static pace_status make_rows(pace_launch_rows *out, measurer *m) {
    if (m->count == 0) return PACE_OK;
    PACE_TRY(PACE_PUSH(out, measure(m, 0, m->pieces, m->count)));
    for (size_t n = 0, from = 0; n < m->names; from = m->end[n++])
        if (m->end[n] > from) PACE_TRY(PACE_PUSH(out, measure(m, (pace_name)n, m->pieces + from, m->end[n] - from)));
    qsort(out->items + 1, out->count - 1, sizeof *out->items, by_time);
    return PACE_OK;
}

pace_status pace_launches_measure(pace_launch_rows *out, const pace_rank *rank, const pace_work_choice *choice,
                                  const pace_launch_limits *limits) {
    pace_launch_rows rows = {0};
    size_t room = rank->work.host_is_device ? 0 : rank->work.items.count;
    measurer m = {.step = &rank->step, .limits = limits, .names = pace_names_count(&rank->step.names)};
    pace_status status = PACE_MAKE(m.end, m.names) && PACE_MAKE(m.seen, room ? rank->step.count : 0) &&
                                 PACE_MAKE(m.pieces, room) && PACE_MAKE(m.calls, room) && PACE_MAKE(m.delays, room) &&
                                 PACE_MAKE(m.scratch, room)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK && room) gather(&m, &rank->work, choice);
    if (status == PACE_OK) status = make_rows(&rows, &m);
    PACE_FREE(m.end, m.seen, m.pieces, m.calls, m.delays, m.scratch);
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}
