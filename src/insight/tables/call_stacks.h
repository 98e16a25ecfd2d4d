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

/** What a node takes itself, of the device or of the host. */
static inline double pace_stack_own_ns(const pace_stack_node *node, bool device) {
    int64_t ns = device ? node->device_ns : node->host_ns;
    return ns > 0 ? (double)ns : 0;
}

/** Host time in [from_ns, to_ns); the chosen device work. */
pace_status pace_call_stacks_sum(pace_call_stacks *out, const pace_rank *rank, const pace_work_choice *choice,
                                 int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
void pace_call_stacks_free(pace_call_stacks *stacks);

/* A node as a box of a flame graph: as wide as its share, below the frame around it. */
typedef struct {
    uint32_t node;           /* of the stacks */
    uint32_t parent, widest; /* widest: node that takes most of those below; 0 = none */
    unsigned depth;          /* 1 = the outermost */
    bool hidden;             /* it does nothing but call another frame: "_call_impl", decorators, a main function */
    double all_ns;           /* with what is below */
    double from, to;         /* shares of the whole */
    double next;             /* where the next box below begins */
} pace_stack_box;

typedef PACE_VEC(pace_stack_box) pace_stack_boxes;

/** The root, then depth first, of siblings the one with most time first; nothing where no time is known. */
pace_status pace_stack_boxes_of(pace_stack_boxes *out, const pace_call_stacks *stacks, bool device) PACE_MUST_CHECK;
