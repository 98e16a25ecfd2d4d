#include "step/graph_edit.h"

#include <string.h>

static pace_status copy_names(pace_names *out, const pace_names *names) {
    for (size_t i = 0; i < pace_names_count(names); i++) {
        const char *text = pace_names_text(names, (pace_name)i);
        pace_name number;
        PACE_TRY(pace_names_add(&number, out, text, strlen(text)));
    }
    return PACE_OK;
}

/* A vector's items, in an array just as long. */
static pace_status copy_items(void *out, size_t *count, size_t *capacity, const void *items, size_t of, size_t size) {
    void *copy = pace_alloc(of + 1, size);
    if (!copy) return PACE_E_MEMORY;
    if (of) memcpy(copy, items, of * size);
    memcpy(out, &copy, sizeof copy);
    *count = of;
    *capacity = of + 1;
    return PACE_OK;
}

#define COPY_VEC(to, from) \
    copy_items(&(to)->items, &(to)->count, &(to)->capacity, (from)->items, (from)->count, sizeof *(from)->items)

static pace_status copy_columns(pace_graph *out, const pace_graph *graph) {
    PACE_TRY(copy_names(&out->names, &graph->names));
    PACE_TRY(COPY_VEC(&out->nodes, &graph->nodes));
    PACE_TRY(COPY_VEC(&out->launches, &graph->launches));
    PACE_TRY(COPY_VEC(&out->exchanges, &graph->exchanges));
    PACE_TRY(COPY_VEC(&out->unknown, &graph->unknown));
    PACE_TRY(COPY_VEC(&out->turn_ends, &graph->turn_ends));
    for (size_t i = 0; i < graph->ops.count; i++) {
        uint32_t number;
        PACE_TRY(pace_graph_intern_op(&number, out, &graph->ops.items[i]));
    }
    return PACE_OK;
}

pace_status pace_graph_copy(pace_graph *out, const pace_graph *graph) {
    pace_graph copy;
    PACE_TRY(pace_graph_init(&copy));
    pace_status status = copy_columns(&copy, graph);
    if (status != PACE_OK) {
        pace_graph_free(&copy);
        return status;
    }
    copy.thread_count = graph->thread_count;
    copy.stream_count = graph->stream_count;
    copy.rank = graph->rank;
    copy.world_size = graph->world_size;
    copy.micro_batches = graph->micro_batches;
    copy.device_name = graph->device_name;
    copy.unknown_ops = graph->unknown_ops;
    *out = copy;
    return PACE_OK;
}

typedef struct {
    pace_graph *graph;
    const uint32_t *into;  /* per launch */
    bool *worked, *works;  /* per node: has issued launches, it or what is within; still does */
    bool *held;            /* per node: waited for or waiting, or behind a pause */
    uint32_t *node_number; /* old node -> new, PACE_NO_NODE = gone */
    uint32_t *next_node;   /* old node -> the number of the first that stays at or behind it */
} cut;

static void mark(cut *c) {
    pace_graph *g = c->graph;
    for (uint32_t i = 0; i < g->launches.count; i++) {
        c->worked[g->launches.items[i].node] = true;
        if (c->into[i] == i) c->works[g->launches.items[i].node] = true;
    }
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        const pace_graph_node *node = &g->nodes.items[i];
        if (node->after != PACE_NO_NODE) c->held[i] = c->held[node->after] = true;
        if (node->waits_node != PACE_NO_NODE) c->held[i] = c->held[node->waits_node] = true;
        if (node->waits_launch != PACE_NO_LAUNCH) c->held[i] = true;
        if (node->kind != PACE_TASK_OP || node->pause_ns > 0) c->held[i] = true;
    }
    for (size_t i = g->nodes.count; i-- > 0;) { /* children come after their parents */
        uint32_t parent = g->nodes.items[i].parent;
        if (parent == PACE_NO_NODE) continue;
        c->worked[parent] |= c->worked[i];
        c->works[parent] |= c->works[i];
        c->held[parent] |= c->held[i];
    }
}

/* Whether a node leaves: it is done for, or its parent is. */
static void number_nodes(cut *c) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->graph->nodes.count; i++) {
        uint32_t parent = c->graph->nodes.items[i].parent;
        bool goes = (c->worked[i] && !c->works[i] && !c->held[i]) ||
                    (parent != PACE_NO_NODE && c->node_number[parent] == PACE_NO_NODE);
        c->next_node[i] = next;
        c->node_number[i] = goes ? PACE_NO_NODE : next++;
    }
    c->next_node[c->graph->nodes.count] = next;
}

static uint32_t renumbered(const uint32_t *numbers, uint32_t old) { return old == UINT32_MAX ? old : numbers[old]; }

static void move_nodes(const cut *c, const uint32_t *launch_number) {
    pace_graph *g = c->graph;
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        if (c->node_number[i] == PACE_NO_NODE) continue;
        pace_graph_node node = g->nodes.items[i];
        node.parent = renumbered(c->node_number, node.parent);
        node.after = renumbered(c->node_number, node.after);
        node.waits_node = renumbered(c->node_number, node.waits_node);
        node.waits_launch = renumbered(launch_number, node.waits_launch);
        g->nodes.items[c->node_number[i]] = node;
    }
    g->nodes.count = c->next_node[g->nodes.count];
}

/* A launch whose wait is its own work now, or comes to be behind it, waits no more: its stream keeps that order. */
static void move_launches(const cut *c, const uint32_t *launch_number) {
    pace_graph *g = c->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->launches.count; i++) {
        if (c->into[i] != i) continue;
        pace_launch launch = g->launches.items[i];
        launch.node = c->node_number[launch.node];
        launch.place = c->next_node[launch.place];
        for (int k = 0; k < 2; k++) {
            launch.waits[k] = renumbered(launch_number, launch.waits[k]);
            if (launch.waits[k] == count) launch.waits[k] = PACE_NO_LAUNCH;
        }
        if (i > 0 && c->into[i - 1] != i - 1) launch.same_call = false;
        g->launches.items[count++] = launch;
    }
    g->launches.count = count;
}

static void renumber_launches(uint32_t *number, const cut *c) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->graph->launches.count; i++)
        if (c->into[i] == i) number[i] = next++;
    for (uint32_t i = 0; i < c->graph->launches.count; i++)
        if (c->into[i] != i) number[i] = number[c->into[i]];
}

pace_status pace_graph_merge_launches(pace_graph *graph, uint32_t *into) {
    size_t nodes = graph->nodes.count, launches = graph->launches.count;
    uint32_t *number = pace_alloc(launches + 1, sizeof *number);
    cut c = {.graph = graph, .into = into};
    bool made = number && PACE_MAKE(c.worked, nodes + 1) && PACE_MAKE(c.works, nodes + 1) &&
                PACE_MAKE(c.held, nodes + 1) && PACE_MAKE(c.node_number, nodes + 1) &&
                PACE_MAKE(c.next_node, nodes + 1);
    if (made) {
        mark(&c);
        number_nodes(&c);
        renumber_launches(number, &c);
        move_nodes(&c, number);
        move_launches(&c, number);
        memcpy(into, number, launches * sizeof *number);
    }
    PACE_FREE(c.worked, c.works, c.held, c.node_number, c.next_node, number);
    return made ? PACE_OK : PACE_E_MEMORY;
}
