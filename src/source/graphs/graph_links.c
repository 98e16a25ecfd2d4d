/* What waits for what in a measured step: what its synchronisation records say, else what its times show. */
#include "base/order.h"
#include "source/graphs/graph_builder.h"
#include "step/call_names.h"

#include <stdlib.h>
#include <string.h>

/* Traces in whole microseconds round both ends; a launch reaches the device within a few microseconds after its call; a
 * stream that waited for another starts soon after it. */
enum { ROUNDING_NS = 2000, LAUNCH_NS = 10000, HANDOVER_NS = 20000, QUIET_NS = 1000 };

static bool is_copy(const char *name) { return strstr(name, "Memcpy") != NULL; }

bool pace_graph_call_blocks(const pace_graph_builder *b, uint32_t call) {
    const char *name = pace_step_name(b->step, call);
    if (pace_call_synchronises(name) || strstr(name, "hipMemcpyWithStream")) return true;
    if (!is_copy(name)) return false;
    int64_t work_end = pace_graph_work_end(b, call);
    return !pace_copy_is_enqueued(name) || (work_end != INT64_MIN && work_end <= pace_step_end_ns(b->step, call));
}

/* --- host calls that wait for the device ----------------------------------------------------------------------- */

/* Of a lane's device tasks, the last that ended by `until` and after `after` and has a launch before `launch`. */
static uint32_t ended_on_lane(const pace_graph_builder *b, const pace_lane *lane, int64_t after, int64_t until,
                              uint32_t launch) {
    const pace_step *step = b->step;
    uint32_t low = lane->first; /* ends ascend on a stream, but for overlaps of a few nanoseconds */
    PACE_SEARCH(low, lane->first + lane->count, middle, pace_step_end_ns(step, middle) <= until);
    for (uint32_t tries = 0; low > lane->first && tries < 16; tries++) {
        uint32_t task = --low;
        if (pace_step_end_ns(step, task) <= after) break;
        if (pace_task_on_device(step->kind[task]) && pace_graph_number(b, task) < launch) return task;
    }
    return PACE_NO_TASK;
}

static uint32_t last_ended(const pace_graph_builder *b, int64_t after, int64_t until, uint32_t launch,
                           uint32_t not_lane) {
    uint32_t best = PACE_NO_TASK;
    for (uint32_t i = 0; i < b->step->lanes.count; i++) {
        const pace_lane *lane = &b->step->lanes.items[i];
        if (!lane->device || i == not_lane) continue;
        uint32_t task = ended_on_lane(b, lane, after, until, launch);
        if (task == PACE_NO_TASK) continue;
        best = task;
        after = pace_step_end_ns(b->step, task);
    }
    return best;
}

/* Of the device work the trace says a task waits for, what ended last; PACE_NO_TASK when it says nothing. */
static uint32_t recorded(const pace_graph_builder *b, uint32_t waiter, uint32_t launch) {
    size_t count;
    const pace_wait *waits = pace_step_waits(&count, b->step, waiter);
    uint32_t best = PACE_NO_TASK;
    for (size_t i = 0; i < count; i++) {
        if (pace_graph_number(b, waits[i].on) >= launch) continue; /* not in the graph, or issued later */
        if (best == PACE_NO_TASK || pace_step_end_ns(b->step, waits[i].on) > pace_step_end_ns(b->step, best))
            best = waits[i].on;
    }
    return best;
}

/* The work whose end let the call return; when none did, the thread's last: elsewhere it may be what is waited for. */
static void link_blocking_call(pace_graph_builder *b, uint32_t number, uint32_t issued, uint32_t thread_last) {
    const pace_step *step = b->step;
    uint32_t call = b->node_task.items[number];
    int64_t end = pace_step_end_ns(step, call);
    uint32_t task = recorded(b, call, issued);
    if (task == PACE_NO_TASK) task = last_ended(b, step->start_ns[call], end + ROUNDING_NS, issued, PACE_NO_TASK);
    pace_graph_node *node = &b->graph->nodes.items[number];
    node->waits_launch = task != PACE_NO_TASK ? pace_graph_number(b, task) : thread_last;
}

static pace_status link_blocking_calls(pace_graph_builder *b) {
    const pace_graph *graph = b->graph;
    uint32_t *last = pace_alloc(graph->thread_count + 1, sizeof *last);
    if (!last) return PACE_E_MEMORY;
    memset(last, 0xff, (graph->thread_count + 1) * sizeof *last);
    size_t launch = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const pace_graph_node *node = &graph->nodes.items[i];
        uint32_t task = b->node_task.items[i];
        /* a blocking copy waits for itself: its own launch stands behind it */
        while (launch < graph->launches.count &&
               (graph->launches.items[launch].place <= i || graph->launches.items[launch].node == i)) {
            last[graph->nodes.items[graph->launches.items[launch].node].thread] = (uint32_t)launch;
            launch++;
        }
        if (node->kind == PACE_TASK_CALL && pace_graph_call_blocks(b, task))
            link_blocking_call(b, i, (uint32_t)launch, last[node->thread]);
    }
    pace_free(last);
    return PACE_OK;
}

/* --- streams that wait for streams ----------------------------------------------------------------------- */

static void add_wait(pace_launch *launch, uint32_t on) {
    if (on == PACE_NO_LAUNCH || launch->waits[0] == on || launch->waits[1] == on) return;
    if (launch->waits[0] == PACE_NO_LAUNCH) launch->waits[0] = on;
    else launch->waits[1] = on;
}

/* Work that was issued long ago, on a stream that stood still, and started when another stream reached a point. */
static void link_launch(pace_graph_builder *b, uint32_t number, uint32_t before) {
    const pace_step *step = b->step;
    uint32_t task = b->launch_task.items[number], cause = pace_task_cause(step, task);
    int64_t start = step->start_ns[task];
    if (cause == PACE_NO_TASK) return;
    int64_t ready = pace_step_end_ns(step, cause) + LAUNCH_NS;
    if (before != PACE_NO_TASK && pace_step_end_ns(step, before) > ready) ready = pace_step_end_ns(step, before);
    if (start - ready < ROUNDING_NS) return;
    int64_t after = start - HANDOVER_NS > ready ? start - HANDOVER_NS : ready;
    uint32_t on = last_ended(b, after, start, number, pace_task_lane(step, task));
    if (on != PACE_NO_TASK) add_wait(&b->graph->launches.items[number], pace_graph_number(b, on));
}

static bool is_stream_wait(const char *name) { return strstr(name, "StreamWaitEvent") != NULL; }

/* A call that makes a stream wait for an event stands before the launch that waits: for what the other streams had in
 * line then, unless the times say that it was not done yet. */
static void link_stream_wait(pace_graph_builder *b, uint32_t number, const uint32_t *last_on) {
    const pace_step *step = b->step;
    pace_launch *launch = &b->graph->launches.items[number];
    int64_t start = step->start_ns[b->launch_task.items[number]], latest = INT64_MIN;
    uint32_t best = PACE_NO_LAUNCH;
    for (uint32_t s = 0; s < b->graph->stream_count; s++) {
        if (s == launch->stream || last_on[s] == PACE_NO_LAUNCH) continue;
        int64_t end = pace_step_end_ns(step, b->launch_task.items[last_on[s]]);
        if (end > start + ROUNDING_NS || end <= latest) continue;
        latest = end;
        best = last_on[s];
    }
    add_wait(launch, best);
}

/* Whether the thread asked for a wait since its launch before. */
static bool asked_to_wait(const pace_step *step, uint32_t cause, int64_t since_ns) {
    const pace_lane *lane = &step->lanes.items[pace_task_lane(step, cause)];
    for (uint32_t task = cause, tries = 0; task > lane->first && tries < 64; tries++) {
        task--;
        if (step->start_ns[task] <= since_ns) break;
        if (step->kind[task] == PACE_TASK_CALL && is_stream_wait(pace_step_name(step, task))) return true;
    }
    return false;
}

/* Synchronisation records say all that streams wait for, so that nothing has to be read off the times. */
static bool streams_are_recorded(const pace_step *step) {
    for (size_t i = 0; i < step->syncs.count; i++)
        if (step->syncs.items[i].kind == PACE_SYNC_STREAM_WAITS) return true;
    return false;
}

static void link_recorded_streams(pace_graph_builder *b) {
    for (uint32_t i = 0; i < b->graph->launches.count; i++) {
        pace_launch *launch = &b->graph->launches.items[i];
        size_t count;
        const pace_wait *waits = pace_step_waits(&count, b->step, b->launch_task.items[i]);
        for (size_t k = 0; k < count; k++) {
            uint32_t on = pace_graph_number(b, waits[k].on);
            if (on < i && b->graph->launches.items[on].stream != launch->stream) add_wait(launch, on);
        }
    }
}

static pace_status link_streams(pace_graph_builder *b) {
    const pace_step *step = b->step;
    pace_graph *graph = b->graph;
    uint32_t streams = graph->stream_count, threads = graph->thread_count;
    uint32_t *last_on = pace_alloc(streams + 1, sizeof *last_on);
    int64_t *since = pace_alloc(threads + 1, sizeof *since);
    if (!last_on || !since) {
        PACE_FREE(last_on, since);
        return PACE_E_MEMORY;
    }
    memset(last_on, 0xff, (streams + 1) * sizeof *last_on);
    for (uint32_t t = 0; t < threads; t++) since[t] = INT64_MIN;
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        pace_launch *launch = &graph->launches.items[i];
        uint32_t cause = pace_task_cause(step, b->launch_task.items[i]), last = last_on[launch->stream];
        link_launch(b, i, last == PACE_NO_LAUNCH ? PACE_NO_TASK : b->launch_task.items[last]);
        if (cause != PACE_NO_TASK) {
            int64_t *before = &since[graph->nodes.items[launch->node].thread];
            if (asked_to_wait(step, cause, *before)) link_stream_wait(b, i, last_on);
            *before = step->start_ns[cause];
        }
        last_on[launch->stream] = i;
    }
    PACE_FREE(last_on, since);
    return PACE_OK;
}

/* --- threads that wait for threads ----------------------------------------------------------------------- */

/* An operator, or call, that no operator encloses. */
static bool is_root(const pace_graph_builder *b, uint32_t number) {
    const pace_graph_node *nodes = b->graph->nodes.items;
    if (nodes[number].kind == PACE_TASK_ANNOTATION || b->node_task.items[number] == PACE_NO_TASK) return false;
    uint32_t above = pace_task_parent(b->step, b->node_task.items[number]);
    return above == PACE_NO_TASK || pace_graph_operator(b, above) == PACE_NO_TASK;
}

/* What had ended by each instant: nodes in the order in which they end, and up to each the one that ended last, and the
 * one of another thread. Of nodes that end together the lowest thread counts, and of a thread the one begun last. */
typedef struct {
    uint32_t count;
    struct ending {
        int64_t end_ns;
        uint32_t node, thread;
    } * order;
    uint32_t *last, *other; /* PACE_NO_NODE = none */
} endings;

PACE_ORDER(by_end, struct ending, PACE_UP(end_ns) PACE_DOWN(thread) PACE_UP(node))

static void order_endings(endings *e, const pace_graph_builder *b) {
    for (uint32_t i = 0; i < b->graph->nodes.count; i++) {
        uint32_t task = b->node_task.items[i];
        if (task == PACE_NO_TASK) continue;
        e->order[e->count++] = (struct ending){pace_step_end_ns(b->step, task), i, b->graph->nodes.items[i].thread};
    }
    qsort(e->order, e->count, sizeof *e->order, by_end);
    uint32_t last = PACE_NO_NODE, other = PACE_NO_NODE;
    for (uint32_t i = 0; i < e->count; i++) {
        if (last != PACE_NO_NODE && b->graph->nodes.items[last].thread != e->order[i].thread) other = last;
        last = e->order[i].node;
        e->last[i] = last;
        e->other[i] = other;
    }
}

/* What of all other threads ended last by an instant; what ended inside an operator that still runs counts too, since
 * autograd hands work over from within. */
static uint32_t ended_by(const endings *e, const pace_graph *graph, uint32_t thread, int64_t instant_ns) {
    uint32_t low = 0;
    PACE_SEARCH(low, e->count, middle, e->order[middle].end_ns <= instant_ns);
    if (low == 0) return PACE_NO_NODE;
    uint32_t last = e->last[low - 1];
    return graph->nodes.items[last].thread != thread ? last : e->other[low - 1];
}

/* A thread that wakes when another has just ended something was handed the work: the autograd thread at the backward
 * pass, the caller after it, gradients accumulated elsewhere. */
static void link_thread(pace_graph_builder *b, uint32_t number, uint32_t own_root, const endings *e) {
    pace_graph_node *node = &b->graph->nodes.items[number];
    int64_t start = b->step->start_ns[b->node_task.items[number]];
    int64_t latest = own_root == PACE_NO_NODE ? INT64_MIN : pace_step_end_ns(b->step, b->node_task.items[own_root]);
    if (own_root != PACE_NO_NODE && start - latest < QUIET_NS) return;
    uint32_t ended = ended_by(e, b->graph, node->thread, start);
    if (ended >= number) return; /* none, or one that takes no time at the same instant */
    if (pace_step_end_ns(b->step, b->node_task.items[ended]) > latest) node->after = ended;
}

static pace_status link_threads(pace_graph_builder *b) {
    uint32_t threads = b->graph->thread_count, nodes = (uint32_t)b->graph->nodes.count;
    uint32_t *root = pace_alloc(threads + 2 * (size_t)nodes + 1, sizeof *root); /* per thread */
    endings e = {.order = pace_alloc(nodes + 1, sizeof *e.order)};
    pace_status status = root && e.order ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        e.last = root + threads;
        e.other = e.last + nodes;
        memset(root, 0xff, threads * sizeof *root);
        order_endings(&e, b);
        for (uint32_t i = 0; i < nodes; i++) {
            if (!is_root(b, i)) continue;
            link_thread(b, i, root[b->graph->nodes.items[i].thread], &e);
            root[b->graph->nodes.items[i].thread] = i;
        }
    }
    PACE_FREE(root, e.order);
    return status;
}

pace_status pace_graph_link_by_times(pace_graph_builder *b) {
    if (b->host_only) return link_threads(b);
    PACE_TRY(link_blocking_calls(b));
    if (streams_are_recorded(b->step)) link_recorded_streams(b);
    else PACE_TRY(link_streams(b));
    return link_threads(b);
}
