#include "source/graphs/graph_from_step.h"
#include "base/order.h"
#include "base/text.h"
#include "source/graphs/graph_builder.h"

#include <string.h>

/* --- which host tasks become nodes ---------------------------------------------------------------------------- */

static bool in_interval(const pace_graph_builder *b, uint32_t task) {
    return b->step->start_ns[task] >= b->from_ns && b->step->start_ns[task] < b->to_ns;
}

/* The outermost annotation or operator of a stretch in which the thread fetches input. */
static bool heads_input(const pace_graph_builder *b, uint32_t task) {
    uint32_t above = pace_task_parent(b->step, task);
    return b->fetches[task] && (above == PACE_NO_TASK || !b->fetches[above]);
}

/* A label is an annotation; one that fetches input is what the host does then. */
static pace_task_kind node_kind(const pace_graph_builder *b, uint32_t task) {
    pace_task_kind kind = (pace_task_kind)b->step->kind[task];
    if (heads_input(b, task)) return PACE_TASK_OP;
    return kind == PACE_TASK_OP && pace_name_is_label(pace_step_name(b->step, task)) ? PACE_TASK_ANNOTATION : kind;
}

/* Whether the host does all of a task itself. */
static bool launches_nothing(const pace_graph_builder *b, const pace_lane *lane, uint32_t task) {
    int64_t end = pace_step_end_ns(b->step, task);
    for (uint32_t i = task; i < lane->first + lane->count && b->step->start_ns[i] < end; i++)
        if (b->work_end_ns[i]) return false;
    return true;
}

static bool fetches_input(const pace_graph_builder *b, const pace_lane *lane, uint32_t task) {
    const pace_step *step = b->step;
    uint32_t above = pace_task_parent(step, task);
    if (above != PACE_NO_TASK && b->fetches[above]) return true;
    bool named = step->kind[task] == PACE_TASK_ANNOTATION || step->kind[task] == PACE_TASK_OP;
    return named && step->stage[task] == PACE_STAGE_INPUT && launches_nothing(b, lane, task);
}

/* A call is a node of its own when it blocks, so that what is issued behind it waits, or when no operator makes it. */
static bool is_node(const pace_graph_builder *b, uint32_t task) {
    const pace_step *step = b->step;
    uint32_t parent = pace_task_parent(step, task),
             op = parent == PACE_NO_TASK ? PACE_NO_TASK : pace_graph_operator(b, parent);
    if (!in_interval(b, task)) return false;
    switch (step->kind[task]) {
    case PACE_TASK_OP:
    case PACE_TASK_ANNOTATION: return true;
    case PACE_TASK_CALL: return pace_graph_call_blocks(b, task) || (b->work_end_ns[task] && op == PACE_NO_TASK);
    default: return false;
    }
}

/* "nn.Module: Linear_3" in a stack of Python frames. */
static pace_status module_of(pace_name *out, pace_graph_builder *b, uint32_t task) {
    static const char frame[] = "nn.Module: ";
    const pace_step *step = b->step;
    uint32_t parent = pace_task_parent(step, task);
    *out = parent == PACE_NO_TASK ? 0 : b->module[parent];
    if (step->kind[task] != PACE_TASK_PYTHON || !pace_starts(pace_step_name(step, task), frame)) return PACE_OK;
    const char *name = pace_step_name(step, task) + sizeof frame - 1;
    char path[512];
    size_t outer = *out ? strlen(pace_names_text(&b->graph->names, *out)) : 0, own = strlen(name);
    if (outer + own + 2 > sizeof path) return PACE_OK;
    memcpy(path, outer ? pace_names_text(&b->graph->names, *out) : "", outer);
    if (outer) path[outer++] = '.';
    memcpy(path + outer, name, own);
    return pace_names_add(out, &b->graph->names, path, outer + own);
}

/* Tasks of a lane that the graph may ask about: from the first that lasts into the interval to the last that begins
 * before all that began in it has ended. */
typedef struct {
    uint32_t first, end;
} task_range;

static task_range range_of(const pace_graph_builder *b, const pace_lane *lane) {
    const pace_step *step = b->step;
    uint32_t end = lane->first + lane->count, first = lane->first;
    int64_t until_ns = b->to_ns;
    while (first < end && pace_step_end_ns(step, first) < b->from_ns) first++;
    uint32_t last = first;
    for (; last < end && step->start_ns[last] < until_ns; last++)
        if (step->start_ns[last] < b->to_ns && pace_step_end_ns(step, last) > until_ns)
            until_ns = pace_step_end_ns(step, last);
    return (task_range){first, last};
}

static pace_status take_host_lane(pace_graph_builder *b, const task_range *range) {
    const pace_step *step = b->step;
    if (range->first == range->end) return PACE_OK;
    const pace_lane *lane = &step->lanes.items[pace_task_lane(step, range->first)];
    for (uint32_t task = range->first; task < range->end; task++) {
        uint32_t parent = pace_task_parent(step, task);
        b->fetches[task] = fetches_input(b, lane, task);
        bool node = is_node(b, task);
        b->holder[task] = node ? task + 1 : parent == PACE_NO_TASK ? 0 : b->holder[parent];
        b->op[task] = parent == PACE_NO_TASK ? 0 : b->op[parent];
        if (node && node_kind(b, task) == PACE_TASK_OP) b->op[task] = task + 1;
        PACE_TRY(module_of(&b->module[task], b, task));
        if (node) PACE_TRY(PACE_PUSH(&b->entries, ((pace_graph_entry){.at_ns = step->start_ns[task], .task = task})));
    }
    return PACE_OK;
}

static void find_work_ends(pace_graph_builder *b, const task_range *ranges) {
    const pace_step *step = b->step;
    for (uint32_t task = 0; task < step->count; task++) {
        uint32_t cause = pace_task_cause(step, task);
        if (!pace_task_on_device(step->kind[task]) || cause == PACE_NO_TASK) continue;
        const task_range *range = &ranges[pace_task_lane(step, cause)];
        int64_t end_ns = pace_step_end_ns(step, task) - step->begins_ns + 1;
        bool asked = cause >= range->first && cause < range->end;
        if (asked && end_ns > b->work_end_ns[cause]) b->work_end_ns[cause] = end_ns;
    }
}

static pace_status take_host(pace_graph_builder *b) {
    const pace_step *step = b->step;
    task_range *ranges = pace_alloc(step->lanes.count + 1, sizeof *ranges);
    if (!ranges) return PACE_E_MEMORY;
    for (size_t i = 0; i < step->lanes.count; i++) ranges[i] = range_of(b, &step->lanes.items[i]);
    find_work_ends(b, ranges);
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++)
        if (!step->lanes.items[i].device) status = take_host_lane(b, &ranges[i]);
    pace_free(ranges);
    return status;
}

/* The first task of a stream with a known launch; the end of its tasks when none has one. */
static uint32_t first_launched(const pace_step *step, const pace_lane *lane) {
    uint32_t task = lane->first, end = lane->first + lane->count;
    while (task < end && pace_task_cause(step, task) == PACE_NO_TASK) task++;
    return task;
}

/* When the last of the work that was in line has ended by an instant, on any stream; the beginning of the interval when
 * none has. */
static int64_t in_line_until(const pace_graph_builder *b, int64_t at_ns) {
    const pace_step *step = b->step;
    int64_t until = b->from_ns;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        uint32_t launched = first_launched(step, lane);
        if (!lane->device || launched == lane->first + lane->count) continue;
        for (uint32_t task = lane->first; task < launched; task++)
            if (pace_step_end_ns(step, task) <= at_ns && pace_step_end_ns(step, task) > until)
                until = pace_step_end_ns(step, task);
    }
    return until;
}

/* What stands on a stream in front of its first task with a known launch was in line before the trace began: it is
 * issued before everything else. The first of it takes its stream for as long as the device stands still before it. */
static pace_status take_stream(pace_graph_builder *b, const pace_lane *lane) {
    const pace_step *step = b->step;
    uint32_t end = lane->first + lane->count, launched = first_launched(step, lane);
    bool heads = b->from_ns != INT64_MIN;
    for (uint32_t task = lane->first; task < end; task++) {
        if (!pace_task_on_device(step->kind[task])) continue;
        uint32_t cause = pace_task_cause(step, task);
        if (!in_interval(b, cause == PACE_NO_TASK ? task : cause)) continue;
        bool in_line = launched < end && task < launched;
        int64_t issued_ns = in_line ? INT64_MIN : pace_task_issued_ns(step, task);
        PACE_TRY(PACE_PUSH(&b->entries,
                           ((pace_graph_entry){issued_ns, step->start_ns[task], task, true, in_line && heads})));
        heads = false;
    }
    return PACE_OK;
}

static pace_status take_device(pace_graph_builder *b) {
    for (size_t i = 0; i < b->step->lanes.count; i++)
        if (b->step->lanes.items[i].device) PACE_TRY(take_stream(b, &b->step->lanes.items[i]));
    return PACE_OK;
}

PACE_ORDER(by_issue, pace_graph_entry, PACE_UP(at_ns) PACE_UP(launch) PACE_UP(order_ns) PACE_UP(task))

/* --- nodes and launches --------------------------------------------------------------------------------------- */

static uint32_t lane_number(pace_graph_builder *b, uint32_t lane, uint32_t next) {
    if (!b->thread_of[lane]) b->thread_of[lane] = next + 1;
    return b->thread_of[lane] - 1;
}

static pace_status add_node(pace_graph_builder *b, uint32_t task) {
    const pace_step *step = b->step;
    uint32_t above = pace_task_parent(step, task),
             holder = above == PACE_NO_TASK ? PACE_NO_TASK : pace_graph_holder(b, above);
    uint32_t parent = holder == PACE_NO_TASK ? PACE_NO_NODE : pace_graph_number(b, holder);
    uint32_t thread = lane_number(b, pace_task_lane(step, task), b->graph->thread_count), number;
    PACE_TRY(pace_graph_add_node(&number, b->graph, node_kind(b, task), pace_step_name(step, task), parent, thread));
    pace_graph_node *node = &b->graph->nodes.items[number];
    node->task = task;
    node->module = b->module[task];
    node->stage = step->stage[task];
    node->marks_step = pace_task_marks_step(step, task);
    if (heads_input(b, task)) node->spends_ns = pace_task_ns(step, task);
    if (step->kind[task] == PACE_TASK_OP && step->detail[task])
        PACE_TRY(pace_graph_rename(&node->shapes, b, step->detail[task]));
    b->number[task] = number + 1;
    return PACE_PUSH(&b->node_task, task);
}

/* What nothing is known to have launched: before the trace began, or in a trace of the device alone. */
static pace_status unlinked_node(uint32_t *out, pace_graph_builder *b, uint32_t *unlinked) {
    if (*unlinked == PACE_NO_NODE) {
        PACE_TRY(pace_graph_add_node(unlinked, b->graph, PACE_TASK_ANNOTATION, "launched elsewhere", PACE_NO_NODE,
                                     b->graph->thread_count));
        PACE_TRY(PACE_PUSH(&b->node_task, PACE_NO_TASK));
    }
    *out = *unlinked;
    return PACE_OK;
}

static pace_status add_launch(pace_graph_builder *b, const pace_graph_entry *entry, uint32_t *unlinked) {
    const pace_step *step = b->step;
    uint32_t task = entry->task;
    uint32_t cause = pace_task_cause(step, task),
             holder = cause == PACE_NO_TASK ? PACE_NO_TASK : pace_graph_holder(b, cause), node, number;
    if (holder == PACE_NO_TASK) PACE_TRY(unlinked_node(&node, b, unlinked));
    else node = pace_graph_number(b, holder);
    uint32_t stream = lane_number(b, pace_task_lane(step, task), b->graph->stream_count);
    PACE_TRY(pace_graph_add_launch(&number, b->graph, node, (pace_task_kind)step->kind[task], NULL, stream));
    pace_launch *launch = &b->graph->launches.items[number];
    launch->task = task;
    launch->heads_line = entry->heads_line;
    launch->duration_ns = entry->heads_line ? pace_step_end_ns(step, task) - in_line_until(b, step->start_ns[task])
                                            : pace_task_ns(step, task);
    PACE_TRY(pace_graph_rename(&launch->name, b, step->name[task]));
    if (cause != PACE_NO_TASK && step->kind[cause] == PACE_TASK_CALL) {
        PACE_TRY(pace_graph_rename(&launch->call, b, step->name[cause]));
        launch->same_call = number > 0 && b->launch_task.items[number - 1] != PACE_NO_TASK &&
                            pace_task_cause(step, b->launch_task.items[number - 1]) == cause;
    }
    b->number[task] = number + 1;
    return PACE_PUSH(&b->launch_task, task);
}

static pace_status add_entries(pace_graph_builder *b) {
    uint32_t unlinked = PACE_NO_NODE;
    PACE_SORT(&b->entries, by_issue);
    PACE_ITEMS (const pace_graph_entry, entry, &b->entries) {
        if (entry->launch) {
            PACE_TRY(add_launch(b, entry, &unlinked));
            continue;
        }
        PACE_TRY(add_node(b, entry->task));
        if (b->host_only && !b->fetches[entry->task]) PACE_TRY(pace_graph_add_host_work(b, entry->task));
    }
    return PACE_OK;
}

/* --- the whole ------------------------------------------------------------------------------------------------ */

static pace_status make_room(pace_graph_builder *b) {
    size_t tasks = b->step->count + 1;
    if (!PACE_MAKE(b->holder, tasks) || !PACE_MAKE(b->op, tasks) || !PACE_MAKE(b->module, tasks) ||
        !PACE_MAKE(b->number, tasks) || !PACE_MAKE(b->work_end_ns, tasks) || !PACE_MAKE(b->fetches, tasks) ||
        !PACE_MAKE(b->renamed, pace_names_count(&b->step->names) + 1) ||
        !PACE_MAKE(b->thread_of, b->step->lanes.count + 1))
        return PACE_E_MEMORY;
    return pace_kernel_classes_load(&b->classes, b->catalog);
}

static pace_status build(pace_graph_builder *b) {
    PACE_TRY(make_room(b));
    const size_t *kinds = b->step->kind_count;
    b->host_only = kinds[PACE_TASK_KERNEL] + kinds[PACE_TASK_COPY] + kinds[PACE_TASK_MEMSET] == 0;
    if (b->host_only) PACE_TRY(pace_graph_find_host_work(b));
    PACE_TRY(take_host(b));
    PACE_TRY(take_device(b));
    PACE_TRY(add_entries(b));
    b->graph->rank = b->step->rank;
    b->graph->world_size = b->step->world_size;
    const pace_traced_device *device = pace_step_device(b->step, pace_step_first_device(b->step));
    if (device && device->name) PACE_TRY(pace_graph_rename(&b->graph->device_name, b, device->name));
    PACE_TRY(pace_graph_link_by_times(b));
    return b->host_only ? PACE_OK : pace_graph_set_ops(b);
}

pace_status pace_graph_from_step(pace_graph *out, pace_catalog *catalog, const pace_step *step, int64_t from_ns,
                                 int64_t to_ns) {
    pace_graph graph;
    PACE_TRY(pace_graph_init(&graph));
    pace_graph_builder b = {.catalog = catalog, .step = step, .graph = &graph, .from_ns = from_ns, .to_ns = to_ns};
    pace_status status = build(&b);
    PACE_FREE(b.holder, b.op, b.module, b.number, b.work_end_ns, b.fetches);
    pace_host_operators_free(&b.operators);
    PACE_FREE(b.renamed, b.thread_of);
    PACE_VEC_FREE(&b.entries, &b.node_task, &b.launch_task);
    pace_kernel_classes_free(b.classes);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}
