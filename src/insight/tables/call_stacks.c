#include "insight/tables/call_stacks.h"

#include "base/index.h"
#include "base/text.h"
#include "base/tree_order.h"
#include "insight/tables/python_frames.h"
#include "insight/timeline/thread_name.h"

#include <string.h>

typedef struct {
    const pace_step *step;
    pace_call_stacks stacks;
    pace_index children;
    pace_name *name_of; /* name of the step -> name of the stacks + 1; 0 = not yet looked at */
    uint32_t *node_of;  /* host task -> its node */
    int64_t from_ns, to_ns;
} builder;

static pace_status child_of(uint32_t *out, builder *b, uint32_t parent, pace_name name, uint8_t kind) {
    uint32_t next = (uint32_t)b->stacks.nodes.count, depth = b->stacks.nodes.items[parent].depth + 1;
    PACE_TRY(pace_index_find(out, &b->children, PACE_KEY_OF(parent, name), next));
    if (*out != next) return PACE_OK;
    return PACE_PUSH(&b->stacks.nodes, ((pace_stack_node){name, parent, depth, kind, 0, 0, 0}));
}

static pace_status child_called(uint32_t *out, builder *b, uint32_t parent, const char *text) {
    pace_name name;
    PACE_TRY(pace_names_add(&name, &b->stacks.names, text, strlen(text)));
    return child_of(out, b, parent, name, PACE_TASK_OTHER);
}

static pace_status name_of(pace_name *out, builder *b, uint32_t task) {
    pace_name *known = &b->name_of[b->step->name[task]];
    if (*known == 0) {
        char cut[PACE_FRAME_NAME];
        const char *text = pace_step_name(b->step, task);
        pace_name name;
        if (b->step->kind[task] == PACE_TASK_PYTHON) {
            pace_python_frame_name(cut, text);
            text = cut;
        }
        PACE_TRY(pace_names_add(&name, &b->stacks.names, text, strlen(text)));
        *known = name + 1;
    }
    *out = *known - 1;
    return PACE_OK;
}

/* The node of a task below `parent`. */
static pace_status child_task(uint32_t *out, builder *b, uint32_t parent, uint32_t task) {
    pace_name name;
    PACE_TRY(name_of(&name, b, task));
    return child_of(out, b, parent, name, b->step->kind[task]);
}

/* --- host --------------------------------------------------------------------------------------------------------- */

/* What of a task lies in the range. */
static int64_t time_inside(const builder *b, uint32_t task) {
    int64_t start_ns = b->step->start_ns[task], end_ns = pace_step_end_ns(b->step, task);
    if (start_ns < b->from_ns) start_ns = b->from_ns;
    if (end_ns > b->to_ns) end_ns = b->to_ns;
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

static pace_status add_task(builder *b, uint32_t task, uint32_t thread) {
    uint32_t parent = pace_task_parent(b->step, task), above = parent == PACE_NO_TASK ? thread : b->node_of[parent];
    int64_t ns = time_inside(b, task), start_ns = b->step->start_ns[task];
    PACE_TRY(child_task(&b->node_of[task], b, above, task));
    pace_stack_node *node = &b->stacks.nodes.items[b->node_of[task]];
    node->calls += start_ns >= b->from_ns && start_ns < b->to_ns;
    node->host_ns += ns;
    if (parent != PACE_NO_TASK) b->stacks.nodes.items[above].host_ns -= ns;
    return PACE_OK;
}

static pace_status add_threads(builder *b) {
    PACE_ITEMS (const pace_lane, lane, &b->step->lanes) {
        char text[PACE_THREAD_NAME];
        uint32_t thread;
        if (lane->device || lane->count == 0) continue;
        pace_thread_name(text, b->step, lane);
        PACE_TRY(child_called(&thread, b, 0, text));
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) PACE_TRY(add_task(b, task, thread));
    }
    return PACE_OK;
}

/* --- device ------------------------------------------------------------------------------------------------------- */

/* Puts the tasks from `task` out to, but not, `until` below the node `at`. */
static pace_status descend(uint32_t *at, builder *b, uint32_t task, uint32_t until) {
    uint32_t inside[PACE_STEP_DEPTH + 1];
    size_t count = 0;
    for (; task != until && task != PACE_NO_TASK && count <= PACE_STEP_DEPTH; task = pace_task_parent(b->step, task))
        inside[count++] = task;
    while (count > 0) PACE_TRY(child_task(at, b, *at, inside[--count]));
    return PACE_OK;
}

/* The node of a launch: its own stack, or below that of the forward operator that it differentiates. */
static pace_status node_of_launch(uint32_t *out, builder *b, uint32_t launch) {
    const pace_gradient *gradient = pace_step_gradient_around(b->step, launch);
    *out = b->node_of[launch];
    if (!gradient) return PACE_OK;
    PACE_TRY(child_called(out, b, b->node_of[gradient->forward], "(backward)"));
    return descend(out, b, launch, pace_task_parent(b->step, gradient->task));
}

static pace_status add_work(builder *b, const pace_rank *rank, const pace_work_choice *choice) {
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        uint32_t launch = pace_task_made_for(b->step, item->task), node;
        if (!pace_work_is_chosen(item, choice)) continue;
        if (launch == PACE_NO_TASK) PACE_TRY(child_called(&node, b, 0, "(no launch recorded)"));
        else PACE_TRY(node_of_launch(&node, b, launch));
        PACE_TRY(child_task(&node, b, node, item->task));
        b->stacks.nodes.items[node].device_ns += item->end_ns - item->start_ns;
    }
    return PACE_OK;
}

static pace_status build(builder *b, const pace_rank *rank, const pace_work_choice *choice) {
    if (!PACE_MAKE(b->name_of, pace_names_count(&b->step->names)) || !PACE_MAKE(b->node_of, b->step->count))
        return PACE_E_MEMORY;
    PACE_TRY(PACE_PUSH(&b->stacks.nodes, ((pace_stack_node){0})));
    PACE_TRY(add_threads(b));
    return rank->work.host_is_device ? PACE_OK : add_work(b, rank, choice);
}

pace_status pace_call_stacks_sum(pace_call_stacks *out, const pace_rank *rank, const pace_work_choice *choice,
                                 int64_t from_ns, int64_t to_ns) {
    builder b = {.step = &rank->step, .from_ns = from_ns, .to_ns = to_ns};
    PACE_TRY(pace_names_init(&b.stacks.names));
    pace_status status = build(&b, rank, choice);
    pace_index_free(&b.children);
    PACE_FREE(b.name_of, b.node_of);
    return PACE_GIVE(out, b.stacks, status, pace_call_stacks_free(&b.stacks));
}

void pace_call_stacks_free(pace_call_stacks *stacks) {
    pace_names_free(&stacks->names);
    PACE_VEC_FREE(&stacks->nodes);
}

/* --- boxes ------------------------------------------------------------------------------------------------------- */

static pace_status sum_up(pace_stack_boxes *out, const pace_call_stacks *stacks, bool device) {
    for (uint32_t i = 0; i < stacks->nodes.count; i++) {
        const pace_stack_node *node = &stacks->nodes.items[i];
        double own_ns = pace_stack_own_ns(node, device);
        PACE_TRY(PACE_PUSH(out, ((pace_stack_box){.node = i, .parent = node->parent, .all_ns = own_ns})));
    }
    for (size_t i = out->count; i-- > 1;) out->items[out->items[i].parent].all_ns += out->items[i].all_ns;
    for (uint32_t i = 1; i < out->count; i++) {
        uint32_t *widest = &out->items[out->items[i].parent].widest;
        if (*widest == 0 || out->items[i].all_ns > out->items[*widest].all_ns) *widest = i;
    }
    return PACE_OK;
}

/* Modules are shown. */
static bool hands_on(const pace_stack_boxes *boxes, const pace_call_stacks *stacks, uint32_t i) {
    const pace_stack_node *nodes = stacks->nodes.items;
    uint32_t child = boxes->items[i].widest;
    return nodes[i].kind == PACE_TASK_PYTHON && child && nodes[child].kind == PACE_TASK_PYTHON &&
           boxes->items[child].all_ns >= 0.98 * boxes->items[i].all_ns &&
           !pace_starts(pace_names_text(&stacks->names, nodes[i].name), "nn.Module: ");
}

static double weight_of(const void *box) { return ((const pace_stack_box *)box)->all_ns; }

static void place(pace_stack_box *box, pace_stack_box *parent, double whole_ns) {
    double share = box->all_ns / whole_ns;
    box->from = box->next = parent->next;
    box->to = box->from + share;
    box->depth = parent->depth + !box->hidden;
    parent->next += share;
}

pace_status pace_stack_boxes_of(pace_stack_boxes *out, const pace_call_stacks *stacks, bool device) {
    pace_stack_boxes boxes = {0};
    pace_status status = sum_up(&boxes, stacks, device);
    for (uint32_t i = 0; status == PACE_OK && i < boxes.count; i++) boxes.items[i].hidden = hands_on(&boxes, stacks, i);
    if (status == PACE_OK && !(boxes.items[0].all_ns > 0)) boxes.count = 0;
    if (status == PACE_OK)
        status = pace_tree_arrange(boxes.items, boxes.count, sizeof *boxes.items, offsetof(pace_stack_box, parent),
                                   weight_of);
    for (size_t i = 1; status == PACE_OK && i < boxes.count; i++)
        place(&boxes.items[i], &boxes.items[boxes.items[i].parent], boxes.items[0].all_ns);
    return PACE_GIVE(out, boxes, status, PACE_VEC_FREE(&boxes));
}
