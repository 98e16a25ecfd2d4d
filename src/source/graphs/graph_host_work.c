/*
 * A trace without a device, as a graph: the host is the device, so that operators which would launch kernels elsewhere
 * are launches that their caller waits for, as long as they took less the operators below them.
 */
#include "source/graphs/graph_builder.h"
#include "step/op_call.h"

static unsigned ops_of(pace_op ops[PACE_CALL_OPS], const pace_step *step, uint32_t task) {
    pace_op_shapes shapes;
    pace_op_family family;
    const char *text = step->detail[task] ? pace_names_text(&step->names, step->detail[task]) : "";
    bool shaped = pace_op_shapes_parse(&shapes, text);
    return pace_ops_of_call(ops, &family, pace_step_name(step, task), shaped ? &shapes : NULL);
}

pace_status pace_graph_find_host_work(pace_graph_builder *b) {
    return pace_host_operators_find(&b->operators, b->step, pace_host_call_ns(b->classes));
}

/* What a task took less the operators below it that work themselves: views and wrappers within it are part of it. */
static int64_t own_ns(pace_graph_builder *b, uint32_t task) {
    const pace_step *step = b->step;
    const pace_lane *lane = &step->lanes.items[pace_task_lane(step, task)];
    int64_t own = pace_task_ns(step, task), end = pace_step_end_ns(step, task), told = INT64_MIN;
    for (uint32_t i = task + 1; i < lane->first + lane->count && step->start_ns[i] < end; i++) {
        if (step->start_ns[i] < told || pace_host_operator_works(&b->operators, i) == PACE_OP_UNKNOWN) continue;
        own -= pace_task_ns(step, i);
        told = pace_step_end_ns(step, i);
    }
    return own > 0 ? own : 0;
}

pace_status pace_graph_add_host_work(pace_graph_builder *b, uint32_t task) {
    pace_op ops[PACE_CALL_OPS];
    pace_op_family family = pace_host_operator_works(&b->operators, task);
    if (family == PACE_OP_UNKNOWN) return PACE_OK;
    unsigned count = ops_of(ops, b->step, task);
    uint32_t node = pace_graph_number(b, task), launch = PACE_NO_LAUNCH;
    int64_t left = own_ns(b, task);
    if (count == 0) {
        PACE_TRY(pace_graph_count_unknown(b->graph, b->graph->nodes.items[node].name));
        ops[count++] = (pace_op){.family = family, .precision = PACE_FP32};
    }
    for (unsigned i = 0; i < count; i++) {
        PACE_TRY(pace_graph_add_launch(&launch, b->graph, node, PACE_TASK_KERNEL, &ops[i], 0));
        int64_t part = left / (count - i);
        left -= part;
        b->graph->launches.items[launch].duration_ns = part;
        b->graph->launches.items[launch].task = task;
        b->graph->launches.items[launch].name = b->graph->nodes.items[node].name;
        PACE_TRY(PACE_PUSH(&b->launch_task, PACE_NO_TASK));
    }
    b->graph->nodes.items[node].waits_launch = launch;
    return PACE_OK;
}
