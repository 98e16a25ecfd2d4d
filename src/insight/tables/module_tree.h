/*
 * Device time by module, as a tree: modules of one class below the same parent are one node ("Linear", of 24
 * instances). Modules are the nn.Module frames of the Python tracer, and annotations that the user or the framework
 * made; without such frames, annotations alone. Backward work belongs to the module of its forward operator.
 */
#pragma once

#include "insight/tables/operators.h"

/* Device time by the pass it belongs to. */
typedef struct {
    int64_t forward_ns, backward_ns, other_ns; /* forward: recomputation and inference, too */
} pace_module_time;

typedef struct {
    pace_name name;            /* of `names`: the class, or the annotation */
    uint32_t parent, depth;    /* node 0 is the root, all work; its depth is 0 */
    bool module;               /* else an annotation */
    size_t instances;          /* different names */
    size_t calls;              /* frames */
    int64_t host_ns;           /* of the frames */
    pace_module_time all, own; /* with what is below; of itself alone */
} pace_module_node;

/* Modules of one class, wherever they stand in the tree. */
typedef struct {
    pace_name name;
    size_t instances, calls;
    pace_module_time all, own; /* all: modules inside one of the same class are counted once */
} pace_module_class;

typedef struct {
    pace_names names;
    PACE_VEC(pace_module_node) nodes;    /* depth first, of siblings the one with most time first */
    PACE_VEC(pace_module_class) classes; /* most own time first */
} pace_module_tree;

static inline int64_t pace_module_time_sum(const pace_module_time *time) {
    return time->forward_ns + time->backward_ns + time->other_ns;
}

/** Frames count that begin in [from_ns, to_ns) on the host. */
pace_status pace_module_tree_build(pace_module_tree *out, const pace_rank *rank, const pace_work_choice *choice,
                                   int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
/** How much of the name of a module's frame is its class: all but the number of "Linear_12". */
size_t pace_module_class_length(const char *name);

void pace_module_tree_free(pace_module_tree *tree);
