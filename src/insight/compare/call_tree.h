/*
 * Device time by call path on two sides: modules, the annotations in them, operators, and operators that these call.
 * Nodes match where their whole paths do, so that what one side calls and the other does not (eager, compiled) shows
 * below the last node that both have. Backward work stands below the module of its forward operator, under
 * "(backward)".
 */
#pragma once

#include "insight/compare/step_change.h"

typedef struct {
    pace_name name;
    uint32_t parent; /* 0 is the root; its parent is itself */
    uint32_t depth;
    double a_ns, b_ns; /* per step, with all that is below */
} pace_call_node;

typedef struct {
    pace_names names;
    PACE_VEC(pace_call_node) nodes; /* the root first, then parents before children; the largest change first */
} pace_call_tree;

pace_status pace_call_tree_compare(pace_call_tree *out, const pace_step_change *change) PACE_MUST_CHECK;
void pace_call_tree_free(pace_call_tree *tree);
