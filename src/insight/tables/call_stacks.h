/*
 * Time by call stack, as a tree: Python frames, modules, annotations, operators and runtime calls of each host thread,
 * and the device work that they launch. Stacks that are alike are one node. Device work of a backward operator stands
 * below the stack of its forward operator, under "(backward)".
 */
#pragma once

#include "insight/tables/operators.h"

typedef struct {
    pace_name name;             /* of `names`: a thread, a frame, an operator, a kernel */
    uint32_t parent, depth;     /* node 0 is the root, of depth 0; parents stand before their children */
    uint8_t kind;               /* pace_task_kind; PACE_TASK_OTHER = a thread, or a label of this tree */
    size_t calls;               /* host tasks that begin in the range */
    int64_t host_ns, device_ns; /* of itself, without what is below */
} pace_stack_node;

typedef struct {
    pace_names names;
    PACE_VEC(pace_stack_node) nodes;
} pace_call_stacks;

/** Host time in [from_ns, to_ns); the chosen device work. */
pace_status pace_call_stacks_sum(pace_call_stacks *out, const pace_rank *rank, const pace_work_choice *choice,
                                 int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
void pace_call_stacks_free(pace_call_stacks *stacks);
