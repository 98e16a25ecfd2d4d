#include "insight/compare/call_tree.h"

#include "base/index.h"
#include "base/text.h"
#include "base/tree_order.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

typedef struct {
    pace_call_tree tree;
    pace_index children;
} builder;

static pace_status child_of(uint32_t *out, builder *b, uint32_t parent, const char *name) {
    pace_name id;
    uint32_t next = (uint32_t)b->tree.nodes.count, depth = b->tree.nodes.items[parent].depth + 1;
    PACE_TRY(pace_names_add(&id, &b->tree.names, name, strlen(name)));
    PACE_TRY(pace_index_find(out, &b->children, PACE_KEY_OF(parent, id), next));
    if (*out != next) return PACE_OK;
    return PACE_PUSH(&b->tree.nodes, ((pace_call_node){.name = id, .parent = parent, .depth = depth}));
}

/* What of a call stack is part of a path: modules, annotations, operators; not frames of Python, calls, or steps. */
static const char *part_of(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    bool module = step->kind[task] == PACE_TASK_PYTHON && pace_starts(name, "nn.Module: ");
    if (module) name += strlen("nn.Module: ");
    bool counts = module || step->kind[task] == PACE_TASK_OP || step->kind[task] == PACE_TASK_ANNOTATION;
    return counts && !pace_task_marks_step(step, task) && !pace_name_wraps_compiled(name) ? name : NULL;
}

typedef struct {
    const char *parts[MOST_DEPTH]; /* the innermost first */
    size_t count;
} path;

static void add_parts(path *p, const pace_step *step, uint32_t task, bool modules, bool others) {
    for (uint32_t at = task; at != PACE_NO_TASK && p->count < MOST_DEPTH; at = pace_task_parent(step, at)) {
        bool module = step->kind[at] == PACE_TASK_PYTHON;
        const char *part = (module ? modules : others) ? part_of(step, at) : NULL;
        if (part) p->parts[p->count++] = part;
    }
}

static void find_path(path *p, const pace_step *step, uint32_t task) {
    uint32_t at = pace_task_on_device(step->kind[task]) ? pace_task_made_for(step, task) : task;
    p->count = 0;
    if (at == PACE_NO_TASK) {
        p->parts[p->count++] = "(no launch recorded)";
        return;
    }
    const pace_gradient *gradient = pace_step_gradient_around(step, at);
    add_parts(p, step, at, !gradient, true);
    if (!gradient || p->count == MOST_DEPTH) return;
    p->parts[p->count++] = "(backward)";
    add_parts(p, step, gradient->forward, true, false);
}

static pace_status add_item(builder *b, const pace_step *step, const pace_work_item *item, double per_step_ns,
                            bool is_a) {
    path p;
    uint32_t node = 0;
    find_path(&p, step, item->task);
    for (size_t i = p.count + 1; i > 0; i--) {
        if (i <= p.count) PACE_TRY(child_of(&node, b, node, p.parts[i - 1]));
        pace_call_node *at = &b->tree.nodes.items[node];
        *(is_a ? &at->a_ns : &at->b_ns) += per_step_ns;
    }
    return PACE_OK;
}

static pace_status add_side(builder *b, const pace_step_side *side, bool is_a) {
    const pace_work *work = &side->rank->work;
    PACE_ITEMS (const pace_work_item, item, &work->items) {
        bool inside = pace_intervals_hold(pace_compared_steps(side), item->start_ns);
        if (inside) PACE_TRY(add_item(b, work->step, item, pace_per_step(side, item->end_ns - item->start_ns), is_a));
    }
    return PACE_OK;
}

static double change_of(const void *node) {
    const pace_call_node *of = node;
    return fabs(of->b_ns - of->a_ns);
}

/* Depth first: behind each node stand its children, the largest change first. */
static pace_status order(pace_call_tree *tree) {
    return pace_tree_arrange(tree->nodes.items, tree->nodes.count, sizeof *tree->nodes.items,
                             offsetof(pace_call_node, parent), change_of);
}

pace_status pace_call_tree_compare(pace_call_tree *out, const pace_step_change *change) {
    builder b = {0};
    PACE_TRY(pace_names_init(&b.tree.names));
    pace_status status = PACE_PUSH(&b.tree.nodes, ((pace_call_node){0}));
    if (status == PACE_OK) status = add_side(&b, &change->a, true);
    if (status == PACE_OK) status = add_side(&b, &change->b, false);
    if (status == PACE_OK) status = order(&b.tree);
    pace_index_free(&b.children);
    return PACE_GIVE(out, b.tree, status, pace_call_tree_free(&b.tree));
}

void pace_call_tree_free(pace_call_tree *tree) {
    pace_names_free(&tree->names);
    PACE_VEC_FREE(&tree->nodes);
}
