#include "step/graph.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

pace_status pace_graph_init(pace_graph *graph) {
    *graph = (pace_graph){.rank = -1, .world_size = -1};
    PACE_TRY(pace_names_init(&graph->names));
    graph->op_slots = pace_alloc(FIRST_SLOTS, sizeof *graph->op_slots);
    graph->op_slot_count = graph->op_slots ? FIRST_SLOTS : 0;
    if (graph->op_slots) return PACE_OK;
    pace_graph_free(graph);
    return PACE_E_MEMORY;
}

void pace_graph_free(pace_graph *graph) {
    pace_names_free(&graph->names);
    PACE_VEC_FREE(&graph->nodes, &graph->launches, &graph->ops, &graph->exchanges, &graph->unknown, &graph->turn_ends,
                  &graph->op_behind);
    pace_free(graph->op_slots);
    *graph = (pace_graph){0};
}

pace_status pace_graph_add_node(uint32_t *out, pace_graph *graph, pace_task_kind kind, const char *name,
                                uint32_t parent, uint32_t thread) {
    pace_name number;
    PACE_TRY(pace_names_add(&number, &graph->names, name, strlen(name)));
    return pace_graph_add_named_node(out, graph, kind, number, parent, thread);
}

pace_status pace_graph_add_named_node(uint32_t *out, pace_graph *graph, pace_task_kind kind, pace_name name,
                                      uint32_t parent, uint32_t thread) {
    pace_graph_node node = {.name = name,
                            .parent = parent,
                            .thread = thread,
                            .after = PACE_NO_NODE,
                            .waits_node = PACE_NO_NODE,
                            .waits_launch = PACE_NO_LAUNCH,
                            .task = PACE_NO_TASK,
                            .spends_ns = -1,
                            .kind = (uint8_t)kind,
                            .stage = PACE_STAGE_NONE};
    PACE_TRY(PACE_PUSH(&graph->nodes, node));
    if (thread >= graph->thread_count) graph->thread_count = thread + 1;
    *out = (uint32_t)(graph->nodes.count - 1);
    return PACE_OK;
}

pace_status pace_graph_add_launch(uint32_t *out, pace_graph *graph, uint32_t node, pace_task_kind kind,
                                  const pace_op *op, uint32_t stream) {
    pace_launch launch = {.node = node,
                          .op = PACE_NO_OP,
                          .task = PACE_NO_TASK,
                          .place = (uint32_t)graph->nodes.count,
                          .stream = stream,
                          .waits = {PACE_NO_LAUNCH, PACE_NO_LAUNCH},
                          .kind = (uint8_t)kind,
                          .duration_ns = -1};
    if (op) PACE_TRY(pace_graph_intern_op(&launch.op, graph, op));
    PACE_TRY(PACE_PUSH(&graph->launches, launch));
    if (stream >= graph->stream_count) graph->stream_count = stream + 1;
    *out = (uint32_t)(graph->launches.count - 1);
    return PACE_OK;
}

pace_status pace_graph_add_exchange(pace_graph *graph, uint32_t launch, const pace_graph_exchange *exchange) {
    pace_graph_exchange added = *exchange;
    if (added.group_kind == PACE_GROUP_UNKNOWN) {
        pace_group_kind kind = pace_group_kind_find(pace_names_text(&graph->names, added.group));
        added.group_kind = (uint8_t)kind;
        added.role = (uint8_t)pace_exchange_role_find(kind, pace_names_text(&graph->names, added.collective));
    }
    PACE_TRY(PACE_PUSH(&graph->exchanges, added));
    graph->launches.items[launch].exchange = (uint32_t)graph->exchanges.count;
    return PACE_OK;
}

bool pace_launch_of_several(const pace_graph *graph, uint32_t launch) {
    const pace_launch *one = &graph->launches.items[launch];
    return one->same_call || (launch + 1 < graph->launches.count && one[1].same_call);
}

const pace_graph_exchange *pace_graph_exchange_of(const pace_graph *graph, uint32_t launch) {
    uint32_t exchange = graph->launches.items[launch].exchange;
    return exchange ? &graph->exchanges.items[exchange - 1] : NULL;
}

static uint32_t *op_slot(uint32_t *slots, size_t slot_count, const pace_op *ops, const pace_op *op) {
    size_t at = pace_op_hash(op) & (slot_count - 1);
    while (slots[at] && !pace_op_equal(&ops[slots[at] - 1], op)) at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static pace_status grow_slots(pace_graph *graph) {
    size_t count = graph->op_slot_count * 2;
    uint32_t *slots = pace_alloc(count, sizeof *slots);
    if (!slots) return PACE_E_MEMORY;
    for (size_t i = 0; i < graph->ops.count; i++)
        *op_slot(slots, count, graph->ops.items, &graph->ops.items[i]) = (uint32_t)i + 1;
    pace_free(graph->op_slots);
    graph->op_slots = slots;
    graph->op_slot_count = count;
    return PACE_OK;
}

/* Whether it is the one that followed the last one before. */
static bool is_as_before(const pace_graph *graph, const pace_op *op) {
    if (graph->last_op >= graph->op_behind.count) return false;
    uint32_t behind = graph->op_behind.items[graph->last_op];
    return behind < graph->ops.count && pace_op_equal(&graph->ops.items[behind], op);
}

pace_status pace_graph_intern_op(uint32_t *out, pace_graph *graph, const pace_op *op) {
    if (is_as_before(graph, op)) {
        *out = graph->last_op = graph->op_behind.items[graph->last_op];
        return PACE_OK;
    }
    if (graph->ops.count * 2 >= graph->op_slot_count) PACE_TRY(grow_slots(graph));
    uint32_t *slot = op_slot(graph->op_slots, graph->op_slot_count, graph->ops.items, op);
    if (!*slot) {
        PACE_TRY(PACE_PUSH(&graph->ops, *op));
        *slot = (uint32_t)graph->ops.count;
    }
    *out = *slot - 1;
    while (graph->op_behind.count < graph->ops.count) PACE_TRY(PACE_PUSH(&graph->op_behind, PACE_NO_OP));
    graph->op_behind.items[graph->last_op] = *out;
    graph->last_op = *out;
    return PACE_OK;
}

pace_status pace_graph_count_unknown(pace_graph *graph, pace_name name) {
    size_t i = 0;
    graph->unknown_ops++;
    while (i < graph->unknown.count && graph->unknown.items[i].name != name) i++;
    if (i == graph->unknown.count) PACE_TRY(PACE_PUSH(&graph->unknown, ((pace_unknown_op){.name = name})));
    graph->unknown.items[i].count++;
    return PACE_OK;
}

static pace_status check_links(const pace_graph *graph) {
    size_t nodes = graph->nodes.count, launches = graph->launches.count;
    for (size_t i = 0; i < nodes; i++) {
        const pace_graph_node *node = &graph->nodes.items[i];
        bool has_parent = node->parent != PACE_NO_NODE;
        if (has_parent && (node->parent >= i || graph->nodes.items[node->parent].thread != node->thread))
            return pace_fail(PACE_E_INPUT, "graph: node %zu: expected its parent before it and on its thread", i);
        if ((node->after != PACE_NO_NODE && node->after >= nodes) ||
            (node->waits_node != PACE_NO_NODE && node->waits_node >= nodes) ||
            (node->waits_launch != PACE_NO_LAUNCH && node->waits_launch >= launches))
            return pace_fail(PACE_E_INPUT, "graph: node %zu waits for something that does not exist", i);
    }
    for (size_t i = 0; i < launches; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        if (launch->node >= nodes || (launch->op != PACE_NO_OP && launch->op >= graph->ops.count) ||
            launch->exchange > graph->exchanges.count || launch->place <= launch->node || launch->place > nodes)
            return pace_fail(PACE_E_INPUT, "graph: launch %zu names something that does not exist", i);
        for (int k = 0; k < 2; k++)
            if (launch->waits[k] != PACE_NO_LAUNCH && launch->waits[k] >= launches)
                return pace_fail(PACE_E_INPUT, "graph: launch %zu waits for something that does not exist", i);
    }
    return PACE_OK;
}

/* Instants: 2i = node i starts, 2i + 1 = it ends, 2 nodes + j = launch j has run. Edges say what comes before what. */
typedef struct {
    PACE_VEC(uint32_t) from, to;
    uint32_t *waiting; /* per instant: predecessors not yet passed */
    uint32_t *first;   /* per instant: its edges in `next`, one more at the end */
    uint32_t *next;
    uint32_t *ready; /* a stack */
    size_t instants;
} order_check;

static pace_status edge(order_check *check, size_t from, size_t to) {
    PACE_TRY(PACE_PUSH(&check->from, (uint32_t)from));
    return PACE_PUSH(&check->to, (uint32_t)to);
}

/* The host's order: a thread walks its nodes as nested brackets. */
static pace_status thread_edges(order_check *check, const pace_graph *graph, uint32_t *last) {
    for (uint32_t t = 0; t < graph->thread_count; t++) last[t] = PACE_NO_NODE;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const pace_graph_node *node = &graph->nodes.items[i];
        uint32_t open = last[node->thread];
        PACE_TRY(edge(check, 2 * i, 2 * i + 1));
        /* what was open and does not enclose this one has ended */
        while (open != PACE_NO_NODE && open != node->parent) {
            PACE_TRY(edge(check, 2 * open + 1, 2 * i));
            open = graph->nodes.items[open].parent;
        }
        if (node->parent != PACE_NO_NODE) {
            if (open != node->parent)
                return pace_fail(PACE_E_INPUT, "graph: node %u: its parent %u has ended before it starts", i,
                                 node->parent);
            PACE_TRY(edge(check, 2 * node->parent, 2 * i));
            PACE_TRY(edge(check, 2 * i + 1, 2 * node->parent + 1));
        }
        if (node->after != PACE_NO_NODE) PACE_TRY(edge(check, 2 * node->after + 1, 2 * i));
        if (node->waits_node != PACE_NO_NODE) PACE_TRY(edge(check, 2 * node->waits_node + 1, 2 * i + 1));
        if (node->waits_launch != PACE_NO_LAUNCH)
            PACE_TRY(edge(check, 2 * graph->nodes.count + node->waits_launch, 2 * i + 1));
        last[node->thread] = i;
    }
    return PACE_OK;
}

static pace_status stream_edges(order_check *check, const pace_graph *graph, uint32_t *last) {
    size_t base = 2 * graph->nodes.count;
    for (uint32_t s = 0; s < graph->stream_count; s++) last[s] = PACE_NO_LAUNCH;
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        PACE_TRY(edge(check, 2 * (size_t)launch->node, base + i));
        if (last[launch->stream] != PACE_NO_LAUNCH) PACE_TRY(edge(check, base + last[launch->stream], base + i));
        for (int k = 0; k < 2; k++)
            if (launch->waits[k] != PACE_NO_LAUNCH) PACE_TRY(edge(check, base + launch->waits[k], base + i));
        last[launch->stream] = i;
    }
    return PACE_OK;
}

static pace_status pass_all(order_check *check) {
    size_t edges = check->from.count, ready = 0, passed = 0;
    if (!PACE_MAKE(check->waiting, check->instants + 1) || !PACE_MAKE(check->first, check->instants + 2) ||
        !PACE_MAKE(check->next, edges + 1) || !PACE_MAKE(check->ready, check->instants + 1))
        return PACE_E_MEMORY;
    for (size_t e = 0; e < edges; e++) {
        check->waiting[check->to.items[e]]++;
        check->first[check->from.items[e] + 2]++;
    }
    for (size_t i = 1; i <= check->instants + 1; i++) check->first[i] += check->first[i - 1];
    for (size_t e = 0; e < edges; e++) check->next[check->first[check->from.items[e] + 1]++] = check->to.items[e];
    for (size_t i = 0; i < check->instants; i++)
        if (check->waiting[i] == 0) check->ready[ready++] = (uint32_t)i;
    while (ready > 0) {
        uint32_t at = check->ready[--ready];
        passed++;
        for (uint32_t e = check->first[at]; e < check->first[at + 1]; e++)
            if (--check->waiting[check->next[e]] == 0) check->ready[ready++] = check->next[e];
    }
    return passed == check->instants ? PACE_OK : PACE_E_INPUT;
}

static pace_status name_blocked(const order_check *check, const pace_graph *graph) {
    size_t i = 0, nodes = graph->nodes.count;
    while (i < check->instants && check->waiting[i] == 0) i++;
    uint32_t node = i < 2 * nodes ? (uint32_t)(i / 2) : graph->launches.items[i - 2 * nodes].node;
    return pace_fail(PACE_E_INPUT, "graph: a cycle of waits: node %u (%.80s) waits for itself", node,
                     pace_names_text(&graph->names, graph->nodes.items[node].name));
}

static pace_status check_order(const pace_graph *graph) {
    size_t lanes = graph->thread_count > graph->stream_count ? graph->thread_count : graph->stream_count;
    order_check check = {.instants = 2 * graph->nodes.count + graph->launches.count};
    uint32_t *last = pace_alloc(lanes + 1, sizeof *last);
    pace_status status = last ? thread_edges(&check, graph, last) : PACE_E_MEMORY;
    if (status == PACE_OK) status = stream_edges(&check, graph, last);
    if (status == PACE_OK) {
        status = pass_all(&check);
        if (status == PACE_E_INPUT) status = name_blocked(&check, graph);
    }
    PACE_VEC_FREE(&check.from, &check.to);
    PACE_FREE(check.waiting, check.first, check.next, check.ready, last);
    return status;
}

/* --- an order that does ------------------------------------------------------------------------------------------ */

/* Tries to let everything happen in the order of the numbers, an operator ending when the next on its thread begins or
 * when something waits for its end: as nearly all graphs do. */
typedef struct {
    const pace_graph *graph;
    uint32_t begun, ran; /* nodes, launches */
    uint32_t *open;      /* per thread: its innermost operator, or PACE_NO_NODE */
    bool *closing;       /* per thread */
    bool *ended;         /* per node */
} order_try;

static bool run_until(order_try *t, uint32_t launch) {
    for (; t->ran <= launch; t->ran++) {
        const pace_launch *next = &t->graph->launches.items[t->ran];
        if (next->node >= t->begun) return false;
        for (int k = 0; k < 2; k++)
            if (next->waits[k] != PACE_NO_LAUNCH && next->waits[k] >= t->ran) return false;
    }
    return true;
}

static bool close_innermost(order_try *t, uint32_t thread);

static bool close_node(order_try *t, uint32_t node, uint32_t from_thread) {
    uint32_t thread = t->graph->nodes.items[node].thread;
    if (node >= t->begun || (thread == from_thread && !t->ended[node])) return false;
    while (!t->ended[node])
        if (!close_innermost(t, thread)) return false;
    return true;
}

static bool close_innermost(order_try *t, uint32_t thread) {
    uint32_t number = t->open[thread];
    const pace_graph_node *node = &t->graph->nodes.items[number];
    if (t->closing[thread]) return false;
    t->closing[thread] = true;
    if (node->waits_launch != PACE_NO_LAUNCH && !run_until(t, node->waits_launch)) return false;
    if (node->waits_node != PACE_NO_NODE && !close_node(t, node->waits_node, thread)) return false;
    t->closing[thread] = false;
    t->ended[number] = true;
    t->open[thread] = node->parent;
    return true;
}

static bool begin_next(order_try *t) {
    const pace_graph_node *node = &t->graph->nodes.items[t->begun];
    while (t->open[node->thread] != node->parent)
        if (t->open[node->thread] == PACE_NO_NODE || !close_innermost(t, node->thread)) return false;
    if (node->after != PACE_NO_NODE && !close_node(t, node->after, node->thread)) return false;
    t->open[node->thread] = t->begun++;
    return true;
}

static bool happens_in_order(order_try *t) {
    const pace_graph *graph = t->graph;
    for (uint32_t thread = 0; thread < graph->thread_count; thread++) t->open[thread] = PACE_NO_NODE;
    while (t->begun < graph->nodes.count)
        if (!begin_next(t)) return false;
    for (uint32_t thread = 0; thread < graph->thread_count; thread++)
        while (t->open[thread] != PACE_NO_NODE)
            if (!close_innermost(t, thread)) return false;
    return graph->launches.count == 0 || run_until(t, (uint32_t)graph->launches.count - 1);
}

static pace_status try_order(bool *out, const pace_graph *graph) {
    order_try t = {.graph = graph};
    pace_status status = PACE_MAKE(t.open, graph->thread_count + 1) && PACE_MAKE(t.closing, graph->thread_count + 1) &&
                                 PACE_MAKE(t.ended, graph->nodes.count + 1)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) *out = happens_in_order(&t);
    PACE_FREE(t.open, t.closing, t.ended);
    return status;
}

pace_status pace_graph_check(const pace_graph *graph) {
    bool in_order;
    PACE_TRY(check_links(graph));
    PACE_TRY(try_order(&in_order, graph));
    return in_order ? PACE_OK : check_order(graph);
}
