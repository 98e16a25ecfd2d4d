/* From nodes that wait for each other to host nodes in order and launches on streams. */
#include "base/order.h"
#include "source/traces/chakra_nodes.h"
#include "source/traces/collective_names.h"
#include "source/traces/event_time.h"
#include "base/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Streams of work whose stream is not said. */
enum { STREAM_COMPUTE = -1, STREAM_COLLECTIVE = -2, STREAM_SEND = -3, STREAM_RECEIVE = -4 };

enum { NEW, OPEN, DONE };

enum { MOST_RANKS = 1 << 30 };

typedef PACE_VEC(int64_t) key_list; /* what threads and streams are called; the place is their number */

typedef struct {
    const pace_chakra_nodes *nodes;
    const pace_input *input;
    pace_graph *graph;
    uint32_t *by_id; /* nodes in order of id */
    uint32_t *order; /* nodes in an order that keeps the dependencies */
    size_t ordered;
    uint32_t *dependency;           /* per dependency: its node, PACE_NO_NODE = not there */
    uint8_t *state;                 /* per node: while they are put in order */
    uint32_t *number;               /* per node: of its node or launch in the graph */
    PACE_VEC(uint32_t) stack, next; /* nodes begun, and the dependency each is at */
    key_list threads, streams;
    PACE_VEC(uint32_t) last_of_thread; /* graph node */
    PACE_VEC(int64_t) waits_of_thread; /* of that node, what it ends after: those the next node has not named yet */
    uint32_t last_host;                /* graph node, PACE_NO_NODE = none yet */
    bool root;                         /* the last host node stands for a host of which nothing is known */
    uint64_t missing;
    bool circular; /* with the control dependencies, which are left out then */
} builder;

static const pace_chakra_node *node_at(const builder *b, uint32_t i) { return &b->nodes->nodes.items[i]; }

static const char *name_of(const builder *b, uint32_t i) {
    return pace_names_text(&b->nodes->names, node_at(b, i)->name);
}

/* --- order ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t id;
    uint32_t node;
} id_of_node;

PACE_ORDER(compare_ids, id_of_node, PACE_UP(id))

static uint32_t find(const id_of_node *ids, size_t count, uint64_t id) {
    size_t low = 0;
    PACE_SEARCH(low, count, middle, ids[middle].id < id);
    return low < count && ids[low].id == id ? ids[low].node : PACE_NO_NODE;
}

static pace_status resolve(builder *b, id_of_node *ids) {
    size_t count = b->nodes->nodes.count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t type = node_at(b, i)->type;
        if (type <= PACE_CHAKRA_INVALID || type > 10)
            return pace_fail(PACE_E_INPUT,
                             "%s: node %" PRIu64 " (%.80s): expected a node type of 1 to 10, found %" PRId64,
                             pace_input_name(b->input), node_at(b, i)->id, name_of(b, i), type);
        ids[i] = (id_of_node){node_at(b, i)->id, i};
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++) {
        b->by_id[i] = ids[i].node;
        if (i && ids[i - 1].id == ids[i].id)
            return pace_fail(PACE_E_INPUT, "%s: two nodes have the id %" PRIu64, pace_input_name(b->input), ids[i].id);
    }
    return PACE_OK;
}

static void resolve_dependencies(builder *b, const id_of_node *ids, bool control) {
    b->missing = 0;
    for (size_t i = 0; i < b->nodes->dependencies.count; i++) {
        const pace_chakra_dependency *dependency = &b->nodes->dependencies.items[i];
        bool counts = control || !dependency->control;
        b->dependency[i] = counts ? find(ids, b->nodes->nodes.count, dependency->id) : PACE_NO_NODE;
        b->missing += counts && b->dependency[i] == PACE_NO_NODE;
    }
}

static pace_status open_node(builder *b, uint32_t i) {
    b->state[i] = OPEN;
    PACE_TRY(PACE_PUSH(&b->stack, i));
    return PACE_PUSH(&b->next, 0);
}

/* Depth first, so that what a node depends on stands before it; a stack of our own, since chains may be long. */
static pace_status order_from(builder *b, uint32_t first) {
    PACE_TRY(open_node(b, first));
    while (b->stack.count) {
        uint32_t i = b->stack.items[b->stack.count - 1], *at = &b->next.items[b->next.count - 1];
        const pace_chakra_node *node = node_at(b, i);
        if (*at == node->dependencies) {
            b->order[b->ordered++] = i;
            b->state[i] = DONE;
            b->stack.count--;
            b->next.count--;
            continue;
        }
        uint32_t on = b->dependency[node->first_dependency + (*at)++];
        if (on == PACE_NO_NODE || b->state[on] == DONE) continue;
        if (b->state[on] == OPEN)
            return pace_fail(PACE_E_INPUT, "%s: node %" PRIu64 " (%.80s) waits for itself, by way of node %" PRIu64,
                             pace_input_name(b->input), node_at(b, on)->id, name_of(b, on), node->id);
        PACE_TRY(open_node(b, on));
    }
    return PACE_OK;
}

static pace_status order_nodes(builder *b) {
    b->ordered = b->stack.count = b->next.count = 0;
    memset(b->state, NEW, b->nodes->nodes.count);
    for (size_t i = 0; i < b->nodes->nodes.count; i++)
        if (b->state[b->by_id[i]] == NEW) PACE_TRY(order_from(b, b->by_id[i]));
    return PACE_OK;
}

static pace_status find_order(builder *b, id_of_node *ids) {
    PACE_TRY(resolve(b, ids));
    resolve_dependencies(b, ids, true);
    pace_status status = order_nodes(b);
    if (status != PACE_E_INPUT) return status;
    b->circular = true;
    resolve_dependencies(b, ids, false);
    return order_nodes(b);
}

/* --- nodes of the host -------------------------------------------------------------------------------------------- */

static bool on_host(const pace_chakra_node *node) {
    if (node->on_host >= 0) return node->on_host > 0;
    return node->type < PACE_CHAKRA_MEM_LOAD || node->type > PACE_CHAKRA_COLL;
}

static pace_status index_of(uint32_t *out, key_list *keys, int64_t key) {
    for (uint32_t i = 0; i < keys->count; i++)
        if (keys->items[i] == key) {
            *out = i;
            return PACE_OK;
        }
    if (keys->count >= 65536) return pace_fail(PACE_E_LIMIT, "more than 65536 threads or streams in a Chakra trace");
    *out = (uint32_t)keys->count;
    return PACE_PUSH(keys, key);
}

static pace_status add_host(uint32_t *out, builder *b, pace_task_kind kind, const char *name, int64_t thread) {
    uint32_t number = 0;
    PACE_TRY(index_of(&number, &b->threads, thread));
    while (b->last_of_thread.count < b->threads.count) {
        PACE_TRY(PACE_PUSH(&b->last_of_thread, PACE_NO_NODE));
        PACE_TRY(PACE_PUSH(&b->waits_of_thread, 0));
    }
    PACE_TRY(pace_graph_add_node(out, b->graph, kind, name, PACE_NO_NODE, number));
    b->last_of_thread.items[number] = b->last_host = *out;
    b->waits_of_thread.items[number] = 0;
    b->root = false;
    return PACE_OK;
}

/* Whether the last node of the thread says that it ends after such a dependency of the next one: then it does. */
static bool last_waits(builder *b, uint32_t thread, pace_chakra_wait kind, uint32_t on) {
    if (thread >= b->waits_of_thread.count || !(b->waits_of_thread.items[thread] & kind)) return false;
    pace_graph_node *last = &b->graph->nodes.items[b->last_of_thread.items[thread]];
    *(kind == PACE_CHAKRA_WAITS_LAUNCH ? &last->waits_launch : &last->waits_node) = on;
    b->waits_of_thread.items[thread] &= ~(int64_t)kind;
    return true;
}

/* What a host node waits for stands before it: the last node of its thread, if that says so, else a call for each piece
 * of device work, and for each other thread. */
static pace_status host_waits(uint32_t *after, builder *b, const pace_chakra_node *node) {
    uint32_t thread = 0, wait = 0;
    *after = PACE_NO_NODE;
    PACE_TRY(index_of(&thread, &b->threads, node->thread));
    for (uint32_t k = 0; k < node->dependencies; k++) {
        uint32_t on = b->dependency[node->first_dependency + k];
        if (on == PACE_NO_NODE) continue;
        if (!on_host(node_at(b, on))) {
            if (last_waits(b, thread, PACE_CHAKRA_WAITS_LAUNCH, b->number[on])) continue;
            PACE_TRY(add_host(&wait, b, PACE_TASK_CALL, "wait", node->thread));
            b->graph->nodes.items[wait].waits_launch = b->number[on];
        } else if (b->graph->nodes.items[b->number[on]].thread != thread) {
            if (last_waits(b, thread, PACE_CHAKRA_WAITS_NODE, b->number[on])) continue;
            if (*after != PACE_NO_NODE) {
                PACE_TRY(add_host(&wait, b, PACE_TASK_CALL, "wait", node->thread));
                b->graph->nodes.items[wait].after = *after;
            }
            *after = b->number[on];
        }
    }
    return PACE_OK;
}

static pace_status add_host_node(builder *b, uint32_t i) {
    const pace_chakra_node *node = node_at(b, i);
    uint32_t after;
    PACE_TRY(host_waits(&after, b, node));
    PACE_TRY(add_host(&b->number[i], b, PACE_TASK_OP, name_of(b, i), node->thread));
    b->graph->nodes.items[b->number[i]].after = after;
    b->waits_of_thread.items[b->graph->nodes.items[b->number[i]].thread] = node->waits;
    return PACE_OK;
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static int64_t stream_key(const pace_chakra_node *node) {
    if (node->thread >= 0) return node->thread;
    switch (node->type) {
    case PACE_CHAKRA_COLL: return STREAM_COLLECTIVE;
    case PACE_CHAKRA_SEND: return STREAM_SEND;
    case PACE_CHAKRA_RECV: return STREAM_RECEIVE;
    default: return STREAM_COMPUTE;
    }
}

/* The last node of the thread that the launch depends on, or of the last thread that did something. */
static pace_status issuer_of(uint32_t *out, builder *b, const pace_chakra_node *node) {
    uint32_t latest = PACE_NO_NODE;
    for (uint32_t k = 0; k < node->dependencies; k++) {
        uint32_t on = b->dependency[node->first_dependency + k];
        if (on == PACE_NO_NODE || !on_host(node_at(b, on))) continue;
        if (latest == PACE_NO_NODE || b->number[on] > latest) latest = b->number[on];
    }
    if (latest != PACE_NO_NODE) {
        *out = b->last_of_thread.items[b->graph->nodes.items[latest].thread];
        return PACE_OK;
    }
    if (b->last_host == PACE_NO_NODE) {
        PACE_TRY(add_host(out, b, PACE_TASK_CALL, "issue", -1));
        b->root = true;
    }
    *out = b->last_host;
    return PACE_OK;
}

static pace_status set_exchange(builder *b, uint32_t launch, const pace_chakra_node *node, const char *name) {
    pace_graph_exchange exchange = {.peer = -1, .bytes = node->bytes > 0 ? (double)node->bytes : 0};
    const char *collective = node->type == PACE_CHAKRA_SEND   ? "send"
                             : node->type == PACE_CHAKRA_RECV ? "recv"
                                                              : pace_chakra_collective(node->collective);
    if (!collective) collective = pace_collective_in(name);
    if (node->group_size > 0 && node->group_size <= MOST_RANKS) exchange.group_size = node->group_size;
    if (node->group_stride > 0 && node->group_stride <= MOST_RANKS) exchange.group_stride = node->group_stride;
    if (node->type == PACE_CHAKRA_SEND) exchange.peer = node->destination;
    if (node->type == PACE_CHAKRA_RECV) exchange.peer = node->source;
    const char *group = pace_names_text(&b->nodes->names, node->group);
    PACE_TRY(pace_names_add(&exchange.collective, &b->graph->names, collective, strlen(collective)));
    PACE_TRY(pace_names_add(&exchange.group, &b->graph->names, group, strlen(group)));
    return pace_graph_add_exchange(b->graph, launch, &exchange);
}

/* Only amounts are said: operations are taken to be those of matrices in half precision, as simulators do. */
static pace_op op_of(const pace_chakra_node *node) {
    pace_op op = {.precision = PACE_FP16, .element_bytes = 2};
    if (node->operations > 0) op.flop = (double)node->operations;
    if (node->tensor_bytes > 0) op.read_bytes = (double)node->tensor_bytes;
    if (node->write_bytes > 0 && node->write_bytes <= node->tensor_bytes) {
        op.write_bytes = (double)node->write_bytes;
        op.read_bytes = (double)(node->tensor_bytes - node->write_bytes);
    }
    return op;
}

/* The latest launch of every other stream that the node depends on: streams keep their order, so the others follow. */
static size_t device_waits(uint32_t *waits, size_t room, const builder *b, const pace_chakra_node *node,
                           uint32_t stream) {
    const pace_launch *launches = b->graph->launches.items;
    size_t count = 0;
    for (uint32_t k = 0; k < node->dependencies; k++) {
        uint32_t on = b->dependency[node->first_dependency + k];
        if (on == PACE_NO_NODE || on_host(node_at(b, on)) || launches[b->number[on]].stream == stream) continue;
        size_t at = 0;
        while (at < count && launches[waits[at]].stream != launches[b->number[on]].stream) at++;
        if (at == room) continue;
        if (at == count) waits[count++] = b->number[on];
        else if (b->number[on] > waits[at]) waits[at] = b->number[on];
    }
    return count;
}

static pace_status add_launch(uint32_t *out, builder *b, uint32_t issuer, const pace_op *op, uint32_t stream,
                              const uint32_t *waits, size_t count) {
    PACE_TRY(pace_graph_add_launch(out, b->graph, issuer, PACE_TASK_KERNEL, op, stream));
    pace_launch *launch = &b->graph->launches.items[*out];
    for (size_t k = 0; k < count; k++) launch->waits[k] = waits[k];
    launch->same_call = b->root && *out > 0 && launch[-1].node == issuer;
    return PACE_OK;
}

/* More than two waits: launches that take no time gather them on the stream before it. */
static pace_status add_device_node(builder *b, uint32_t i, uint32_t *waits) {
    const pace_chakra_node *node = node_at(b, i);
    uint32_t issuer = 0, stream = 0, number = 0;
    PACE_TRY(issuer_of(&issuer, b, node));
    PACE_TRY(index_of(&stream, &b->streams, stream_key(node)));
    size_t count = device_waits(waits, b->nodes->nodes.count, b, node, stream);
    for (; count > 2; count -= 2) {
        PACE_TRY(add_launch(&number, b, issuer, NULL, stream, &waits[count - 2], 2));
        pace_launch *join = &b->graph->launches.items[number];
        join->duration_ns = 0;
        PACE_TRY(pace_names_add(&join->name, &b->graph->names, "join", 4));
    }
    bool exchange = node->type >= PACE_CHAKRA_SEND;
    pace_op op = op_of(node);
    PACE_TRY(add_launch(&b->number[i], b, issuer, exchange ? NULL : &op, stream, waits, count));
    pace_launch *launch = &b->graph->launches.items[b->number[i]];
    if (node->duration_ns > 0) launch->duration_ns = node->duration_ns;
    if (node->exact_ns >= 0 && node->exact_ns < PACE_LONGEST_NS) launch->duration_ns = node->exact_ns;
    PACE_TRY(pace_names_add(&launch->name, &b->graph->names, name_of(b, i), strlen(name_of(b, i))));
    if (exchange) return set_exchange(b, b->number[i], node, name_of(b, i));
    bool known = op.flop > 0 || op.read_bytes + op.write_bytes > 0 || launch->duration_ns >= 0;
    return known ? PACE_OK : pace_graph_count_unknown(b->graph, launch->name);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static pace_status add_node(builder *b, uint32_t i, uint32_t *waits) {
    return on_host(node_at(b, i)) ? add_host_node(b, i) : add_device_node(b, i, waits);
}

static pace_status add_all(builder *b, id_of_node *ids, uint32_t *waits) {
    PACE_TRY(find_order(b, ids));
    for (size_t i = 0; i < b->ordered; i++) PACE_TRY(add_node(b, b->order[i], waits));
    return pace_graph_check(b->graph);
}

static pace_status build(builder *b) {
    size_t nodes = b->nodes->nodes.count + 1, dependencies = b->nodes->dependencies.count + 1;
    id_of_node *ids = pace_alloc(nodes, sizeof *ids);
    uint32_t *waits = pace_alloc(nodes, sizeof *waits);
    bool room = ids && waits && PACE_MAKE(b->by_id, nodes) && PACE_MAKE(b->order, nodes) &&
                PACE_MAKE(b->dependency, dependencies) && PACE_MAKE(b->state, nodes) && PACE_MAKE(b->number, nodes);
    pace_status status = room ? add_all(b, ids, waits) : PACE_E_MEMORY;
    PACE_FREE(ids, waits);
    return status;
}

static void warn(pace_read_notes *notes, const builder *b) {
    const char *file = pace_input_name(b->input);
    *notes->warning = '\0';
    notes->code = PACE_WARN_EVENTS_LEFT_OUT;
    if (b->circular)
        pace_append(notes->warning, sizeof notes->warning,
                    "%s: control dependencies contradict the data dependencies; they were left out", file);
    if (b->missing)
        pace_list(notes->warning, sizeof notes->warning, "; ",
                  "%s: %" PRIu64 " dependencies name nodes that are not in the file; they were left out", file,
                  b->missing);
}

pace_status pace_chakra_build(pace_graph *out, pace_read_notes *notes, pace_chakra_nodes *nodes,
                              const pace_input *input) {
    pace_graph graph;
    PACE_TRY(pace_graph_init(&graph));
    builder b = {.nodes = nodes, .input = input, .graph = &graph, .last_host = PACE_NO_NODE};
    pace_status status = build(&b);
    warn(notes, &b);
    PACE_FREE(b.by_id, b.order, b.dependency, b.state, b.number);
    PACE_VEC_FREE(&b.stack, &b.next, &b.threads, &b.streams, &b.last_of_thread, &b.waits_of_thread);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}
