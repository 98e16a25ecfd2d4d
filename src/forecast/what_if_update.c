/* One kernel a step for the optimizer's update: each parameter's element-wise kernels, and those of all parameters. */
#include "cost/optimizer_line.h"
#include "forecast/tensor_roles.h"
#include "forecast/what_ifs.h"
#include "step/op_edit.h"

#include <stddef.h>

/* An annotation of the update; the profiler of PyTorch 1.8 to 1.10 writes those of the framework as operators. */
static bool marks_update(const pace_graph *graph, uint32_t number) {
    const pace_graph_node *node = &graph->nodes.items[number];
    if (node->kind == PACE_TASK_ANNOTATION) return pace_node_updates(graph, number);
    return node->kind == PACE_TASK_OP && pace_is_optimizer_step(pace_names_text(&graph->names, node->name));
}

/* The outermost mark of the optimizer's step around a node; PACE_NO_NODE = none. */
static uint32_t update_of(const pace_graph *graph, uint32_t node) {
    uint32_t found = PACE_NO_NODE;
    for (; node != PACE_NO_NODE; node = graph->nodes.items[node].parent)
        if (marks_update(graph, node)) found = node;
    return found;
}

static bool is_chain(const pace_op *a, const pace_op *b) {
    return a->family == PACE_OP_ELEMENTWISE && b->family == PACE_OP_ELEMENTWISE && a->size[0] == b->size[0] &&
           a->element_bytes == b->element_bytes;
}

/* What the kernel of all does: of a parameter's chain what lies between stays inside; parameters stand beside each
 * other. */
static pace_op join(const pace_op *all, const pace_op *before, const pace_op *next) {
    const pace_op chain[2] = {*before, *next};
    bool chained = is_chain(before, next);
    pace_op fused = chained ? pace_op_fuse(chain, 2) : *next, both = *all;
    both.flop += next->flop;
    both.read_bytes += fused.read_bytes - (chained ? before->read_bytes : 0);
    both.write_bytes += fused.write_bytes - (chained ? before->write_bytes : 0);
    if (!chained) both.size[0] += next->size[0];
    return both;
}

/* The update under way. */
typedef struct {
    uint32_t update, head; /* its annotation; its first launch, PACE_NO_LAUNCH = none yet */
    uint32_t top;          /* the operator that issues the first */
    pace_op all, last;
} gathered;

static uint32_t top_within(const pace_graph *graph, uint32_t node, uint32_t update) {
    while (graph->nodes.items[node].parent != update) node = graph->nodes.items[node].parent;
    return node;
}

static pace_status gather(uint32_t *into, size_t *fused, pace_variant *v, gathered *g, uint32_t number) {
    const pace_launch *launch = &v->graph.launches.items[number], *head = &v->graph.launches.items[g->head];
    const pace_op *op = pace_variant_op(v, number);
    static const pace_op nothing = {.family = PACE_OP_UNKNOWN};
    pace_op next = op ? *op : nothing;
    uint32_t update = update_of(&v->graph, launch->node);
    if (launch->kind != PACE_TASK_KERNEL || launch->exchange || update == PACE_NO_NODE || launch->node == update)
        return PACE_OK;
    if (g->head == PACE_NO_LAUNCH || g->update != update || head->stream != launch->stream ||
        pace_launch_waits(launch)) {
        *g = (gathered){update, number, top_within(&v->graph, launch->node, update), next, next};
        return PACE_OK;
    }
    into[number] = g->head;
    g->all = join(&g->all, &g->last, &next);
    if (op) g->last = next;
    v->launches[g->head].assumed = v->doubts->figure[PACE_DOUBT_FUSED_RESULTS];
    v->launches[g->head].assumed_by = PACE_DOUBT_FUSED_RESULTS;
    ++*fused;
    return pace_variant_set_op(v, g->head, &g->all);
}

/* What else the update's operators do is part of the one that issues the kernel: it costs the host nothing more. */
static void nest(pace_graph *graph, const gathered *g) {
    if (g->head == PACE_NO_LAUNCH) return;
    for (uint32_t i = g->top + 1; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].parent == g->update) graph->nodes.items[i].parent = g->top;
}

/* The element-wise kernels of each update, of one thread and stream, become one. */
static pace_status fuse_all(uint32_t *into, size_t *fused, pace_variant *v, void *context) {
    gathered g = {.head = PACE_NO_LAUNCH};
    (void)context;
    for (uint32_t i = 0; i < v->graph.launches.count; i++) {
        uint32_t head = g.head, update = g.update;
        gathered before = g;
        PACE_TRY(gather(into, fused, v, &g, i));
        if (head != PACE_NO_LAUNCH && g.update != update) nest(&v->graph, &before);
    }
    nest(&v->graph, &g);
    return PACE_OK;
}

static pace_status apply(pace_editing *e, size_t *fused) {
    for (size_t i = 0; i < e->count; i++) PACE_TRY(pace_variant_fuse(fused, &e->variants[i], fuse_all, NULL));
    return PACE_OK;
}

const pace_what_if pace_if_fuse_update = {
    .option = PACE_WHAT_IF_FLAG("fuse_update", "make the optimizer's update one kernel a step"),
    .acts_on = 1U << PACE_ADVICE_HOST | 1U << PACE_ADVICE_MEMORY,
    .label = "fused update",
    .of_host = true,
    .turn = PACE_TURN_FUSE,
    .apply = apply,
    .edits_kernels = true,
    .idle = "no step of an optimizer runs two kernels on the device: it is one already, on the host, or not marked "
            "(Optimizer.step)",
    .needs_change = true,
    .assumption = "Fused update: what an operator of the update passes to the next is neither written nor read.",
};
