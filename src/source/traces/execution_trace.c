#include "source/traces/execution_trace.h"
#include "base/text.h"
#include "source/traces/trace_work.h"

#include <inttypes.h>
#include <string.h>

enum { ANNOTATION_SCOPE = 7 }; /* at::RecordScope::USER_SCOPE */

typedef struct {
    const pace_trace_nodes *trace;
    const pace_input *input;
    pace_graph *graph;
    pace_trace_ids ids;
    pace_trace_works works;
    uint32_t *number; /* node of the trace -> node of the graph, PACE_NO_NODE = none */
    uint32_t *thread; /* node of the trace -> thread */
    PACE_VEC(int64_t) threads;
    PACE_VEC(uint32_t) node; /* node of the graph -> of the trace */
    pace_trace_flow *flow;
} builder;

void pace_trace_ids_free(pace_trace_ids *ids) { PACE_VEC_FREE(&ids->id, &ids->record); }

static const char *name_of(const builder *b, size_t i) {
    return pace_names_text(&b->trace->names, b->trace->nodes.items[i].name);
}

/* The profiler's own nodes: [pytorch|profiler|execution_trace|process], …|thread]. */
static bool is_frame(const char *name) { return pace_starts(name, "[pytorch|profiler|"); }

static pace_status thread_of(uint32_t *out, builder *b, int64_t thread) {
    for (uint32_t i = 0; i < b->threads.count; i++) {
        if (b->threads.items[i] != thread) continue;
        *out = i;
        return PACE_OK;
    }
    if (b->threads.count >= 65536)
        return pace_fail(PACE_E_LIMIT, "%s: more than 65536 threads", pace_input_name(b->input));
    *out = (uint32_t)b->threads.count;
    return PACE_PUSH(&b->threads, thread);
}

/* The node above, when it is one of the same thread; the frames stand above all. */
static pace_status parent_of(uint32_t *out, builder *b, size_t i, uint32_t thread) {
    const pace_trace_node *node = &b->trace->nodes.items[i];
    uint32_t above = pace_trace_find(b->trace, node->parent);
    *out = PACE_NO_NODE;
    b->ids.strays += above == PACE_NO_NODE && node->parent > 0;
    if (above == PACE_NO_NODE) return PACE_OK;
    if (above >= i)
        return pace_fail(PACE_E_INPUT, "%s: node %" PRId64 " (%.80s): expected its parent before it, found %" PRId64,
                         pace_input_name(b->input), node->id, name_of(b, i), node->parent);
    if (b->number[above] != PACE_NO_NODE && b->thread[above] == thread) *out = b->number[above];
    return PACE_OK;
}

static pace_status copy_name(pace_name *out, builder *b, pace_name name) {
    const char *text = pace_names_text(&b->trace->names, name);
    return pace_names_add(out, &b->graph->names, text, strlen(text));
}

static pace_status add_node(builder *b, size_t i) {
    const pace_trace_node *node = &b->trace->nodes.items[i];
    uint32_t parent, number;
    PACE_TRY(thread_of(&b->thread[i], b, node->thread));
    PACE_TRY(parent_of(&parent, b, i, b->thread[i]));
    pace_task_kind kind = node->scope == ANNOTATION_SCOPE ? PACE_TASK_ANNOTATION : PACE_TASK_OP;
    PACE_TRY(pace_graph_add_node(&number, b->graph, kind, name_of(b, i), parent, b->thread[i]));
    if (node->shapes) PACE_TRY(copy_name(&b->graph->nodes.items[number].shapes, b, node->shapes));
    b->number[i] = number;
    PACE_TRY(PACE_PUSH(&b->node, (uint32_t)i));
    PACE_TRY(PACE_PUSH(&b->ids.id, node->id));
    return PACE_PUSH(&b->ids.record, node->record);
}

static pace_status add_work(builder *b, uint32_t i) {
    const pace_trace_work *work = &b->works.items[i];
    const pace_trace_node *node = &b->trace->nodes.items[i];
    uint32_t number = b->number[i];
    for (unsigned k = 0; k < work->count; k++) {
        uint32_t launch;
        bool exchange = work->exchange, copies = work->ops[k].family == PACE_OP_TRANSFER;
        PACE_TRY(pace_graph_add_launch(&launch, b->graph, number, copies ? PACE_TASK_COPY : PACE_TASK_KERNEL,
                                       exchange ? NULL : &work->ops[k], exchange ? PACE_TRACE_EXCHANGE : 0));
        if (exchange) {
            pace_graph_exchange one = {.group_size = node->group_size, .peer = -1, .bytes = work->exchange_bytes};
            PACE_TRY(pace_names_add(&one.collective, &b->graph->names, work->collective, strlen(work->collective)));
            PACE_TRY(copy_name(&one.group, b, node->group));
            PACE_TRY(pace_graph_add_exchange(b->graph, launch, &one));
        }
        b->graph->launches.items[launch].guessed = work->unknown;
        PACE_TRY(pace_trace_flow_launch(b->flow, b->graph, launch, i));
    }
    if (work->waits && b->graph->launches.count)
        b->graph->nodes.items[number].waits_launch = (uint32_t)b->graph->launches.count - 1;
    if (work->unknown) PACE_TRY(pace_graph_count_unknown(b->graph, b->graph->nodes.items[number].name));
    pace_trace_flow_node(b->flow, i);
    return PACE_OK;
}

static pace_status add_all(builder *b) {
    for (uint32_t i = 0; i < b->trace->nodes.count; i++) {
        if (is_frame(name_of(b, i))) continue;
        PACE_TRY(add_node(b, i));
        PACE_TRY(add_work(b, i));
    }
    return PACE_OK;
}

/* --- threads -------------------------------------------------------------------------------------------------- */

static bool is_root(const builder *b, uint32_t number) {
    const pace_graph_node *nodes = b->graph->nodes.items;
    if (nodes[number].kind == PACE_TASK_ANNOTATION) return false;
    for (uint32_t above = nodes[number].parent; above != PACE_NO_NODE; above = nodes[above].parent)
        if (nodes[above].kind == PACE_TASK_OP) return false;
    return true;
}

/* Whether a thread that has issued `other` waits while another issues `number`: it goes on only after that one has gone
 * on too, or stopped. Threads that take turns at every operator do not wait for each other. */
static bool hands_over(const uint32_t *next, uint32_t other, uint32_t number) {
    return next[other] == PACE_NO_NODE || next[number] == PACE_NO_NODE || next[number] < next[other];
}

static void link_handovers(builder *b, uint32_t *last, const uint32_t *next) {
    pace_graph *graph = b->graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        pace_graph_node *node = &graph->nodes.items[i];
        if (!is_root(b, i)) continue;
        uint32_t own = last[node->thread], latest = own;
        for (uint32_t t = 0; t < graph->thread_count; t++) {
            uint32_t other = last[t];
            if (t == node->thread || other == PACE_NO_NODE || !hands_over(next, other, i)) continue;
            if (latest == PACE_NO_NODE || other > latest) latest = other;
        }
        if (latest != own) node->after = latest;
        last[node->thread] = i;
    }
}

/* The range of the caller encloses what autograd does for it: its end waits for the last of that. */
static void link_callers(builder *b) {
    pace_graph_node *nodes = b->graph->nodes.items;
    for (uint32_t i = 0; i < b->graph->nodes.count; i++) {
        int64_t id = b->trace->nodes.items[b->node.items[i]].forward_parent;
        uint32_t found = id > 0 ? pace_trace_find(b->trace, id) : PACE_NO_NODE, root = i;
        uint32_t caller = found == PACE_NO_NODE ? PACE_NO_NODE : b->number[found];
        if (caller == PACE_NO_NODE || caller > i || nodes[caller].thread == nodes[i].thread) continue;
        while (nodes[root].parent != PACE_NO_NODE) root = nodes[root].parent;
        nodes[caller].waits_node = root;
        for (uint32_t at = i; at != PACE_NO_NODE; at = nodes[at].parent)
            if (nodes[at].after == caller) nodes[at].after = PACE_NO_NODE; /* it runs inside its caller */
    }
}

static pace_status link_threads(builder *b) {
    uint32_t nodes = (uint32_t)b->graph->nodes.count, threads = b->graph->thread_count;
    uint32_t *next = pace_alloc(nodes + 1, sizeof *next), *last = pace_alloc(threads + 1, sizeof *last);
    if (next && last) {
        memset(last, 0xff, (threads + 1) * sizeof *last);
        for (uint32_t i = nodes; i-- > 0;) {
            if (!is_root(b, i)) continue;
            next[i] = last[b->graph->nodes.items[i].thread];
            last[b->graph->nodes.items[i].thread] = i;
        }
        memset(last, 0xff, (threads + 1) * sizeof *last);
        link_handovers(b, last, next);
        link_callers(b);
    }
    pace_status status = next && last ? PACE_OK : PACE_E_MEMORY;
    PACE_FREE(next, last);
    return status;
}

/* --- the whole ------------------------------------------------------------------------------------------------ */

static pace_status build(builder *b) {
    size_t count = b->trace->nodes.count;
    if (!PACE_MAKE(b->number, count) || !PACE_MAKE(b->thread, count)) return PACE_E_MEMORY;
    memset(b->number, 0xff, count * sizeof *b->number);
    PACE_TRY(pace_trace_works_find(&b->works, b->trace));
    PACE_TRY(pace_trace_flow_open(&b->flow, b->trace));
    PACE_TRY(add_all(b));
    PACE_TRY(link_threads(b));
    pace_status status = pace_graph_check(b->graph);
    return status == PACE_E_INPUT ? pace_fail_in(status, pace_input_name(b->input)) : status;
}

pace_status pace_execution_trace_read(pace_graph *out, pace_trace_ids *ids, pace_input *input) {
    pace_trace_nodes trace;
    pace_graph graph;
    PACE_TRY(pace_trace_nodes_read(&trace, input));
    pace_status status = pace_graph_init(&graph);
    if (status == PACE_OK) {
        builder b = {.trace = &trace, .input = input, .graph = &graph};
        status = build(&b);
        pace_trace_works_free(&b.works);
        pace_trace_flow_close(b.flow);
        PACE_FREE(b.number, b.thread);
        PACE_VEC_FREE(&b.threads, &b.node);
        if (status == PACE_OK && ids) *ids = b.ids;
        else pace_trace_ids_free(&b.ids);
        if (status == PACE_OK) *out = graph;
        else pace_graph_free(&graph);
    }
    pace_trace_nodes_free(&trace);
    return status;
}
