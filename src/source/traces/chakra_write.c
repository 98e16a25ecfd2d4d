/* A graph as a Chakra trace: field numbers are those of et_def.proto. */
#include "source/traces/chakra_nodes.h"
#include "source/traces/wire.h"

#include <math.h>
#include <string.h>

enum { META_VERSION = 1 };
enum { NODE_ID = 1, NODE_NAME, NODE_TYPE, NODE_DATA_DEPS = 5, NODE_DURATION = 7, NODE_ATTR = 10 };
enum { ATTR_NAME = 1, ATTR_INT32 = 7, ATTR_INT64 = 9, ATTR_BOOL = 27, ATTR_STRING = 29 };

static const char version[] = "0.0.4";

typedef struct {
    const pace_graph *graph;
    pace_sink sink;
    pace_wire_bytes message, attribute;
    uint64_t *ids; /* of nodes, then of launches: the order of issue */
    uint64_t written;
    uint32_t *last_node;   /* per thread: PACE_NO_NODE = none yet */
    uint32_t *last_launch; /* per stream */
} writer;

static uint64_t node_id(const writer *w, uint32_t node) { return w->ids[node]; }

static uint64_t launch_id(const writer *w, uint32_t launch) { return w->ids[w->graph->nodes.count + launch]; }

static pace_status put_attribute(writer *w, const char *name, uint32_t kind, int64_t value) {
    w->attribute.count = 0;
    PACE_TRY(pace_wire_put_bytes(&w->attribute, ATTR_NAME, name, strlen(name)));
    PACE_TRY(pace_wire_put_number(&w->attribute, kind, (uint64_t)value));
    return pace_wire_put_bytes(&w->message, NODE_ATTR, w->attribute.items, w->attribute.count);
}

static pace_status put_text(writer *w, const char *name, const char *text) {
    w->attribute.count = 0;
    PACE_TRY(pace_wire_put_bytes(&w->attribute, ATTR_NAME, name, strlen(name)));
    PACE_TRY(pace_wire_put_bytes(&w->attribute, ATTR_STRING, text, strlen(text)));
    return pace_wire_put_bytes(&w->message, NODE_ATTR, w->attribute.items, w->attribute.count);
}

static pace_status begin(writer *w, uint64_t id, const char *name, pace_chakra_type type) {
    w->message.count = 0;
    PACE_TRY(pace_wire_put_number(&w->message, NODE_ID, id));
    PACE_TRY(pace_wire_put_bytes(&w->message, NODE_NAME, name, strlen(name)));
    return pace_wire_put_number(&w->message, NODE_TYPE, type);
}

static pace_status depend(writer *w, uint64_t id) { return pace_wire_put_number(&w->message, NODE_DATA_DEPS, id); }

/* What a node waits for before it ends is waited for by what its thread does after it: nodes up to `parent` have ended.
 */
static pace_status put_waits_of_ended(writer *w, uint32_t last, uint32_t parent) {
    PACE_TRY(depend(w, node_id(w, last)));
    while (last != PACE_NO_NODE && last != parent) {
        const pace_graph_node *node = &w->graph->nodes.items[last];
        if (node->waits_launch != PACE_NO_LAUNCH) PACE_TRY(depend(w, launch_id(w, node->waits_launch)));
        if (node->waits_node != PACE_NO_NODE) PACE_TRY(depend(w, node_id(w, node->waits_node)));
        last = node->parent;
    }
    return PACE_OK;
}

static int waits_of(const pace_graph_node *node) {
    return (node->waits_launch != PACE_NO_LAUNCH ? PACE_CHAKRA_WAITS_LAUNCH : 0) +
           (node->waits_node != PACE_NO_NODE ? PACE_CHAKRA_WAITS_NODE : 0);
}

static pace_status write_node(writer *w, uint32_t i) {
    const pace_graph_node *node = &w->graph->nodes.items[i];
    uint32_t *last = &w->last_node[node->thread];
    PACE_TRY(begin(w, node_id(w, i), pace_names_text(&w->graph->names, node->name), PACE_CHAKRA_COMP));
    if (*last != PACE_NO_NODE) PACE_TRY(put_waits_of_ended(w, *last, node->parent));
    if (node->after != PACE_NO_NODE) PACE_TRY(depend(w, node_id(w, node->after)));
    PACE_TRY(put_attribute(w, "is_cpu_op", ATTR_BOOL, 1));
    PACE_TRY(put_attribute(w, "tid", ATTR_INT64, node->thread));
    if (waits_of(node)) PACE_TRY(put_attribute(w, "waits", ATTR_INT64, waits_of(node)));
    pace_wire_send(&w->sink, &w->message);
    *last = i;
    return PACE_OK;
}

/* Amounts are whole numbers there. */
static int64_t whole(double amount) {
    const int64_t most = INT64_MAX / 2; /* so that two can be added */
    return amount < (double)most ? llround(amount) : most;
}

static pace_status put_exchange(writer *w, const pace_graph_exchange *exchange, pace_chakra_type type) {
    const char *collective = pace_names_text(&w->graph->names, exchange->collective);
    int64_t number = pace_chakra_collective_number(collective);
    if (type == PACE_CHAKRA_COLL && number >= 0) PACE_TRY(put_attribute(w, "comm_type", ATTR_INT64, number));
    PACE_TRY(put_attribute(w, "comm_size", ATTR_INT64, whole(exchange->bytes)));
    if (type == PACE_CHAKRA_SEND) PACE_TRY(put_attribute(w, "comm_dst", ATTR_INT32, exchange->peer));
    if (type == PACE_CHAKRA_RECV) PACE_TRY(put_attribute(w, "comm_src", ATTR_INT32, exchange->peer));
    if (exchange->group_size > 0) PACE_TRY(put_attribute(w, "group_size", ATTR_INT64, exchange->group_size));
    if (exchange->group_stride > 0) PACE_TRY(put_attribute(w, "group_stride", ATTR_INT64, exchange->group_stride));
    return exchange->group ? put_text(w, "pg_name", pace_names_text(&w->graph->names, exchange->group)) : PACE_OK;
}

static pace_status put_op(writer *w, const pace_op *op) {
    int64_t flop = whole(op->flop), written = whole(op->write_bytes), bytes = whole(op->read_bytes) + written;
    if (flop > 0) PACE_TRY(put_attribute(w, "num_ops", ATTR_INT64, flop));
    if (bytes > 0) PACE_TRY(put_attribute(w, "tensor_size", ATTR_INT64, bytes));
    return written > 0 ? put_attribute(w, "write_bytes", ATTR_INT64, written) : PACE_OK;
}

static pace_chakra_type type_of(const writer *w, const pace_launch *launch) {
    if (!launch->exchange) return PACE_CHAKRA_COMP;
    const pace_graph_exchange *exchange = &w->graph->exchanges.items[launch->exchange - 1];
    const char *collective = pace_names_text(&w->graph->names, exchange->collective);
    return strcmp(collective, "send") == 0   ? PACE_CHAKRA_SEND
           : strcmp(collective, "recv") == 0 ? PACE_CHAKRA_RECV
                                             : PACE_CHAKRA_COLL;
}

static const char *name_of(const writer *w, const pace_launch *launch) {
    if (launch->name) return pace_names_text(&w->graph->names, launch->name);
    if (launch->op != PACE_NO_OP) return pace_op_family_name(w->graph->ops.items[launch->op].family);
    return launch->exchange ? "exchange" : "";
}

static pace_status write_launch(writer *w, uint32_t i) {
    const pace_launch *launch = &w->graph->launches.items[i];
    uint32_t *last = &w->last_launch[launch->stream];
    pace_chakra_type type = type_of(w, launch);
    PACE_TRY(begin(w, launch_id(w, i), name_of(w, launch), type));
    PACE_TRY(depend(w, node_id(w, launch->node)));
    if (*last != PACE_NO_LAUNCH) PACE_TRY(depend(w, launch_id(w, *last)));
    for (int k = 0; k < 2; k++)
        if (launch->waits[k] != PACE_NO_LAUNCH) PACE_TRY(depend(w, launch_id(w, launch->waits[k])));
    if (launch->duration_ns > 0)
        PACE_TRY(pace_wire_put_number(&w->message, NODE_DURATION, (uint64_t)(launch->duration_ns + 500) / 1000));
    PACE_TRY(put_attribute(w, "is_cpu_op", ATTR_BOOL, 0));
    PACE_TRY(put_attribute(w, "tid", ATTR_INT64, launch->stream));
    if (launch->duration_ns >= 0) PACE_TRY(put_attribute(w, "duration_ns", ATTR_INT64, launch->duration_ns));
    if (launch->exchange) PACE_TRY(put_exchange(w, &w->graph->exchanges.items[launch->exchange - 1], type));
    else if (launch->op != PACE_NO_OP) PACE_TRY(put_op(w, &w->graph->ops.items[launch->op]));
    pace_wire_send(&w->sink, &w->message);
    *last = i;
    return PACE_OK;
}

static pace_status number_node(writer *w, uint32_t i) {
    w->ids[i] = w->written++;
    return PACE_OK;
}

static pace_status number_launch(writer *w, uint32_t i) {
    w->ids[w->graph->nodes.count + i] = w->written++;
    return PACE_OK;
}

/* Nodes and launches as the host issues them. */
static pace_status in_order(writer *w, pace_status (*take_node)(writer *, uint32_t),
                            pace_status (*take_launch)(writer *, uint32_t)) {
    const pace_graph *graph = w->graph;
    uint32_t launch = 0;
    for (uint32_t i = 0; i <= graph->nodes.count; i++) {
        while (launch < graph->launches.count && (i == graph->nodes.count || graph->launches.items[launch].place <= i))
            PACE_TRY(take_launch(w, launch++));
        if (i < graph->nodes.count) PACE_TRY(take_node(w, i));
    }
    return PACE_OK;
}

static pace_status write_all(writer *w) {
    const pace_graph *graph = w->graph;
    if (!PACE_MAKE(w->last_node, graph->thread_count + 1) || !PACE_MAKE(w->last_launch, graph->stream_count + 1) ||
        !PACE_MAKE(w->ids, graph->nodes.count + graph->launches.count + 1))
        return PACE_E_MEMORY;
    memset(w->last_node, 0xff, (graph->thread_count + 1) * sizeof *w->last_node);
    memset(w->last_launch, 0xff, (graph->stream_count + 1) * sizeof *w->last_launch);
    PACE_TRY(pace_wire_put_bytes(&w->message, META_VERSION, version, sizeof version - 1));
    pace_wire_send(&w->sink, &w->message);
    PACE_TRY(in_order(w, number_node, number_launch));
    return in_order(w, write_node, write_launch);
}

pace_status pace_chakra_write(const pace_graph *graph, pace_write_fn write, void *context) {
    writer w = {.graph = graph};
    PACE_TRY(pace_sink_open(&w.sink, write, context));
    pace_status status = write_all(&w), closed = pace_sink_close(&w.sink);
    PACE_VEC_FREE(&w.message, &w.attribute);
    PACE_FREE(w.last_node, w.last_launch, w.ids);
    return status == PACE_OK ? closed : status;
}
