/* Flame graphs of a rank: modules, and call stacks, which the folded formats write whole. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/call_stacks.h"
#include "insight/tables/module_tree.h"
#include "report/analyze/flame.h"
#include "report/show.h"

/* What is drawn, when it is. */
typedef struct {
    const pace_rank *rank;
    pace_work_choice work;
    int64_t host_from_ns, host_to_ns;
    bool device; /* stacks: device time, else the host's */
} question;

static question *question_of(const pace_rank *rank, const pace_work_shown *shown, bool device) {
    question *q = pace_alloc(1, sizeof *q);
    if (!q) return NULL;
    *q = (question){rank, shown->work, shown->host_from_ns, shown->host_to_ns, device};
    q->work.name = NULL; /* the filter's text does not live as long, and no stack is left out */
    return q;
}

/* --- modules ------------------------------------------------------------------------------------------------------ */

enum { MODULE_DEPTH = 24 };

/* Each module stands below the one around it, as wide as its share; siblings side by side from their parent's left. */
static void draw_module_tree(pace_flame *flame, const pace_module_tree *tree) {
    double next[MODULE_DEPTH + 1] = {0}, whole = (double)pace_module_time_sum(&tree->nodes.items[0].all);
    for (size_t i = 1; whole > 0 && i < tree->nodes.count; i++) {
        const pace_module_node *node = &tree->nodes.items[i];
        const char *name = pace_names_text(&tree->names, node->name);
        int64_t ns = pace_module_time_sum(&node->all);
        double share = (double)ns / whole;
        if (node->depth >= MODULE_DEPTH) continue;
        double from = next[node->depth];
        next[node->depth] += share;
        next[node->depth + 1] = from;
        pace_flame_box(flame, node->depth - 1, from, from + share, pace_flame_color(name), name, pace_show_ns(ns).text);
    }
}

static pace_status draw_modules(void *context, pace_flame *flame) {
    const question *q = context;
    pace_module_tree tree;
    PACE_TRY(pace_module_tree_build(&tree, q->rank, &q->work, q->host_from_ns, q->host_to_ns));
    draw_module_tree(flame, &tree);
    pace_module_tree_free(&tree);
    return PACE_OK;
}

pace_status pace_put_module_flame(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    question *q = question_of(rank, shown, true);
    if (!q) return PACE_E_MEMORY;
    pace_node_flame(root, "Device time by module, each below the one around it", draw_modules, q, pace_free);
    return PACE_OK;
}

/* --- call stacks -------------------------------------------------------------------------------------------------- */

enum { STACK_DEPTH = 60 };

static pace_class color_of(const pace_stack_node *node) {
    switch (node->kind) {
    case PACE_TASK_PYTHON: return PACE_CLASS_UPDATE;
    case PACE_TASK_OP: return PACE_CLASS_INPUT;
    case PACE_TASK_CALL: return PACE_CLASS_HOST;
    case PACE_TASK_KERNEL: return PACE_CLASS_COMPUTE;
    case PACE_TASK_COPY:
    case PACE_TASK_MEMSET: return PACE_CLASS_COPY;
    default: return PACE_CLASS_OTHER;
    }
}

static pace_status draw_boxes(pace_flame *flame, const pace_call_stacks *stacks, bool device) {
    pace_stack_boxes boxes;
    PACE_TRY(pace_stack_boxes_of(&boxes, stacks, device));
    PACE_ITEMS (const pace_stack_box, box, &boxes) {
        const pace_stack_node *node = &stacks->nodes.items[box->node];
        if (box->node && !box->hidden && box->depth <= STACK_DEPTH)
            pace_flame_box(flame, box->depth - 1, box->from, box->to, color_of(node),
                           pace_names_text(&stacks->names, node->name), pace_show_ns((int64_t)box->all_ns).text);
    }
    PACE_VEC_FREE(&boxes);
    return PACE_OK;
}

static pace_status draw_stacks(void *context, pace_flame *flame) {
    const question *q = context;
    pace_call_stacks stacks;
    pace_flame_legend(flame, PACE_CLASS_UPDATE, "Python");
    pace_flame_legend(flame, PACE_CLASS_INPUT, "operator");
    pace_flame_legend(flame, PACE_CLASS_HOST, "runtime call");
    if (q->device) pace_flame_legend(flame, PACE_CLASS_COMPUTE, "kernel");
    if (q->device) pace_flame_legend(flame, PACE_CLASS_COPY, "copy, fill");
    pace_flame_legend(flame, PACE_CLASS_OTHER, "thread, annotation");
    PACE_TRY(pace_call_stacks_sum(&stacks, q->rank, &q->work, q->host_from_ns, q->host_to_ns));
    pace_status status = draw_boxes(flame, &stacks, q->device);
    pace_call_stacks_free(&stacks);
    return status;
}

/* --- folded ------------------------------------------------------------------------------------------------------- */

/* A name between semicolons, on one line. */
static void write_name(pace_sink *sink, const char *name) {
    for (const char *at = name; *at; at++) {
        char c = *at == ';' ? ',' : (unsigned char)*at < ' ' ? ' ' : *at;
        pace_sink_bytes(sink, &c, 1);
    }
}

/* The stack of a node, the outermost first. */
static pace_status write_stack(pace_sink *sink, const pace_call_stacks *stacks, uint32_t node, uint32_t *above) {
    size_t count = 0;
    for (; node; node = stacks->nodes.items[node].parent) above[count++] = node;
    while (count > 0) {
        write_name(sink, pace_names_text(&stacks->names, stacks->nodes.items[above[--count]].name));
        if (count) pace_sink_text(sink, ";");
    }
    return PACE_OK;
}

static pace_status write_folded(pace_sink *sink, const pace_call_stacks *stacks, bool device) {
    size_t deepest = 0;
    for (size_t i = 0; i < stacks->nodes.count; i++)
        if (stacks->nodes.items[i].depth > deepest) deepest = stacks->nodes.items[i].depth;
    uint32_t *above = pace_alloc(deepest + 1, sizeof *above);
    if (!above) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (uint32_t i = 1; status == PACE_OK && i < stacks->nodes.count; i++) {
        const pace_stack_node *node = &stacks->nodes.items[i];
        if (!(pace_stack_own_ns(node, device) > 0)) continue;
        status = write_stack(sink, stacks, i, above);
        pace_sink_format(sink, " %s\n", pace_show_fixed(pace_stack_own_ns(node, device), 0).text);
    }
    pace_free(above);
    return status;
}

static pace_status write_stacks(void *context, bool device, pace_sink *sink) {
    const question *q = context;
    pace_call_stacks stacks;
    PACE_TRY(pace_call_stacks_sum(&stacks, q->rank, &q->work, q->host_from_ns, q->host_to_ns));
    pace_status status = write_folded(sink, &stacks, device);
    pace_call_stacks_free(&stacks);
    return status;
}

pace_status pace_put_stacks(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    question *whole = question_of(rank, shown, false);
    if (!whole) return PACE_E_MEMORY;
    pace_report_set_stacks(pace_node_report(root), write_stacks, whole, pace_free);
    if (rank->step.kind_count[PACE_TASK_PYTHON] == 0) return PACE_OK;
    for (int device = 0; device < 1 + !rank->work.host_is_device; device++) {
        question *q = question_of(rank, shown, device);
        if (!q) return PACE_E_MEMORY;
        pace_node_flame(root, device ? "Device time by the call stack that launched it" : "Host time by call stack",
                        draw_stacks, q, pace_free);
    }
    return PACE_OK;
}
