#include "insight/tables/module_tree.h"

#include "base/index.h"
#include "base/order.h"
#include "base/text.h"
#include "base/tree_order.h"

#include <string.h>

/* One instance's frame below a node. */
typedef struct {
    uint32_t of; /* a node, or a class */
    pace_name name;
} instance;

typedef PACE_VEC(instance) instances;

typedef struct {
    const pace_step *step;
    pace_module_tree tree;
    pace_index children;
    pace_name *part_of; /* name of the step -> name of the tree + 2; 1 = no part of a tree, 0 = not yet looked at */
    uint32_t *node_of;  /* host task -> the node it is in */
    instances seen;
} builder;

static const char module_prefix[] = "nn.Module: ";

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static pace_status child_of(uint32_t *out, builder *b, uint32_t parent, pace_name name, bool module) {
    uint32_t next = (uint32_t)b->tree.nodes.count;
    PACE_TRY(pace_index_find(out, &b->children, PACE_KEY_OF(parent, name), next));
    if (*out != next) return PACE_OK;
    pace_module_node node = {.name = name, .parent = parent, .module = module};
    node.depth = b->tree.nodes.items[parent].depth + 1;
    return PACE_PUSH(&b->tree.nodes, node);
}

/* --- which node a host task is in --------------------------------------------------------------------------------- */

size_t pace_module_class_length(const char *name) {
    size_t length = strlen(name), end = length;
    while (end && pace_is_digit(name[end - 1])) end--;
    return end > 1 && end < length && name[end - 1] == '_' ? end - 1 : length;
}

/* The name of the tree's for a task that is a part of it. */
static pace_status part_of(pace_name *out, builder *b, uint32_t task) {
    pace_name *known = &b->part_of[b->step->name[task]];
    if (*known == 0) {
        const char *name = pace_step_name(b->step, task);
        bool module = b->step->kind[task] == PACE_TASK_PYTHON;
        pace_name part;
        if (module) name += sizeof module_prefix - 1;
        PACE_TRY(pace_names_add(&part, &b->tree.names, name, module ? pace_module_class_length(name) : strlen(name)));
        *known = part + 2;
    }
    *out = *known - 2;
    return PACE_OK;
}

/* Whether a host task is a part of the tree: a module's frame, or an annotation that marks no step. */
static bool is_part(const builder *b, uint32_t task) {
    uint8_t kind = b->step->kind[task];
    if (kind != PACE_TASK_PYTHON && kind != PACE_TASK_ANNOTATION) return false;
    pace_name *known = &b->part_of[b->step->name[task]];
    if (*known == 0) {
        const char *name = pace_step_name(b->step, task);
        bool part = kind == PACE_TASK_PYTHON ? pace_starts(name, module_prefix) : !pace_task_marks_step(b->step, task);
        if (!part) *known = 1;
    }
    return *known != 1;
}

static pace_status enter(builder *b, uint32_t task, uint32_t parent, bool counts) {
    pace_name name;
    bool module = b->step->kind[task] == PACE_TASK_PYTHON;
    PACE_TRY(part_of(&name, b, task));
    PACE_TRY(child_of(&b->node_of[task], b, parent, name, module));
    if (!counts) return PACE_OK;
    pace_module_node *node = &b->tree.nodes.items[b->node_of[task]];
    node->calls++;
    node->host_ns += pace_task_ns(b->step, task);
    return PACE_PUSH(&b->seen, ((instance){b->node_of[task], b->step->name[task]}));
}

/* Parents stand before their children, so one pass does. */
static pace_status find_nodes(builder *b, int64_t from_ns, int64_t to_ns) {
    const pace_step *step = b->step;
    for (uint32_t task = 0; task < step->count; task++) {
        if (step->kind[task] > PACE_TASK_CALL) continue;
        uint32_t parent = pace_task_parent(step, task) == PACE_NO_TASK ? 0 : b->node_of[pace_task_parent(step, task)];
        b->node_of[task] = parent;
        bool counts = step->start_ns[task] >= from_ns && step->start_ns[task] < to_ns;
        if (is_part(b, task)) PACE_TRY(enter(b, task, parent, counts));
    }
    return PACE_OK;
}

/* Backward operators, and what they enclose, go where their forward operators are. */
static pace_status move_backward(builder *b) {
    const pace_step *step = b->step;
    unsigned char *moved = pace_alloc(step->count, sizeof *moved);
    if (!moved) return PACE_E_MEMORY;
    size_t next = 0;
    for (uint32_t task = 0; task < step->count; task++) {
        while (next < step->gradients.count && step->gradients.items[next].task < task) next++;
        const pace_gradient *gradient = next < step->gradients.count ? &step->gradients.items[next] : NULL;
        uint32_t parent = pace_task_parent(step, task);
        if (gradient && gradient->task == task && gradient->forward != PACE_NO_TASK) {
            b->node_of[task] = b->node_of[gradient->forward];
            moved[task] = 1;
        } else if (parent != PACE_NO_TASK && moved[parent] && !is_part(b, task)) {
            b->node_of[task] = b->node_of[parent];
            moved[task] = 1;
        }
    }
    pace_free(moved);
    return PACE_OK;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

static int64_t *pass_of(pace_module_time *time, uint8_t stage) {
    switch (stage) {
    case PACE_STAGE_FORWARD:
    case PACE_STAGE_RECOMPUTE:
    case PACE_STAGE_PREFILL:
    case PACE_STAGE_DECODE: return &time->forward_ns;
    case PACE_STAGE_BACKWARD: return &time->backward_ns;
    default: return &time->other_ns;
    }
}

static void add(pace_module_time *to, const pace_module_time *time) {
    to->forward_ns += time->forward_ns;
    to->backward_ns += time->backward_ns;
    to->other_ns += time->other_ns;
}

static void add_work(builder *b, const pace_rank *rank, const pace_work_choice *choice) {
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        if (!pace_work_is_chosen(item, choice)) continue;
        uint32_t at =
            pace_task_on_device(b->step->kind[item->task]) ? pace_task_made_for(b->step, item->task) : item->task;
        pace_module_node *node = &b->tree.nodes.items[at == PACE_NO_TASK ? 0 : b->node_of[at]];
        *pass_of(&node->own, item->stage) += item->end_ns - item->start_ns;
    }
    for (size_t i = b->tree.nodes.count; i-- > 0;) {
        pace_module_node *node = &b->tree.nodes.items[i];
        add(&node->all, &node->own);
        if (i) add(&b->tree.nodes.items[node->parent].all, &node->all);
    }
}

/* --- instances ---------------------------------------------------------------------------------------------------- */

PACE_ORDER(by_owner, instance, PACE_UP(of) PACE_UP(name))

/* Different names of each owner; sorts. */
static size_t next_different(const instances *seen, size_t at) {
    size_t next = at + 1;
    while (next < seen->count && by_owner(&seen->items[at], &seen->items[next]) == 0) next++;
    return next;
}

static void count_instances(builder *b) {
    instances *seen = &b->seen;
    PACE_SORT(seen, by_owner);
    for (size_t i = 0; i < seen->count; i = next_different(seen, i)) b->tree.nodes.items[seen->items[i].of].instances++;
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

static bool inside_own_class(const pace_module_tree *tree, const pace_module_node *node) {
    for (uint32_t at = node->parent; at; at = tree->nodes.items[at].parent)
        if (tree->nodes.items[at].module && tree->nodes.items[at].name == node->name) return true;
    return false;
}

#define OWN_TIME(class) pace_module_time_sum(&(class)->own)
PACE_ORDER(by_own_time, pace_module_class, PACE_DOWN_OF(OWN_TIME) PACE_UP(name))

static pace_status sum_classes(builder *b) {
    pace_module_tree *tree = &b->tree;
    uint32_t *class_of = pace_alloc(pace_names_count(&tree->names), sizeof *class_of); /* name -> class + 1 */
    pace_status status = class_of ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 1; i < tree->nodes.count && status == PACE_OK; i++) {
        const pace_module_node *node = &tree->nodes.items[i];
        if (!node->module) continue;
        if (!class_of[node->name]) {
            status = PACE_PUSH(&tree->classes, ((pace_module_class){.name = node->name}));
            class_of[node->name] = (uint32_t)tree->classes.count;
            if (status != PACE_OK) break;
        }
        pace_module_class *class = &tree->classes.items[class_of[node->name] - 1];
        class->calls += node->calls;
        add(&class->own, &node->own);
        if (!inside_own_class(tree, node)) add(&class->all, &node->all);
    }
    for (size_t i = 0; i < b->seen.count && status == PACE_OK; i++) { /* from here on by class */
        const pace_module_node *node = &tree->nodes.items[b->seen.items[i].of];
        b->seen.items[i].of = node->module ? class_of[node->name] : 0;
    }
    pace_free(class_of);
    if (status != PACE_OK || b->seen.count == 0) return status;
    PACE_SORT(&b->seen, by_owner);
    for (size_t i = 0; i < b->seen.count; i = next_different(&b->seen, i))
        if (b->seen.items[i].of) tree->classes.items[b->seen.items[i].of - 1].instances++;
    PACE_SORT(&tree->classes, by_own_time);
    return PACE_OK;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

static double time_of(const void *node) { return (double)pace_module_time_sum(&((const pace_module_node *)node)->all); }

static pace_status order(pace_module_tree *tree) {
    return pace_tree_arrange(tree->nodes.items, tree->nodes.count, sizeof *tree->nodes.items,
                             offsetof(pace_module_node, parent), time_of);
}

static pace_status build(builder *b, const pace_rank *rank, const pace_work_choice *choice, int64_t from_ns,
                         int64_t to_ns) {
    if (!PACE_MAKE(b->part_of, pace_names_count(&b->step->names)) || !PACE_MAKE(b->node_of, b->step->count))
        return PACE_E_MEMORY;
    PACE_TRY(PACE_PUSH(&b->tree.nodes, ((pace_module_node){0})));
    PACE_TRY(find_nodes(b, from_ns, to_ns));
    PACE_TRY(move_backward(b));
    add_work(b, rank, choice);
    count_instances(b);
    PACE_TRY(sum_classes(b));
    return order(&b->tree);
}

pace_status pace_module_tree_build(pace_module_tree *out, const pace_rank *rank, const pace_work_choice *choice,
                                   int64_t from_ns, int64_t to_ns) {
    builder b = {.step = &rank->step};
    PACE_TRY(pace_names_init(&b.tree.names));
    pace_status status = build(&b, rank, choice, from_ns, to_ns);
    pace_index_free(&b.children);
    PACE_FREE(b.part_of, b.node_of);
    PACE_VEC_FREE(&b.seen);
    return PACE_GIVE(out, b.tree, status, pace_module_tree_free(&b.tree));
}

void pace_module_tree_free(pace_module_tree *tree) {
    pace_names_free(&tree->names);
    PACE_VEC_FREE(&tree->nodes, &tree->classes);
}
