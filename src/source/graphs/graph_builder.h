/* What the parts of pace_graph_from_step() share. Private to source/. */
#pragma once

#include "machine/kernel_class.h"
#include "step/graph.h"
#include "step/host_operators.h"

/* A node or a launch before it is one: in order of issue. */
typedef struct {
    int64_t at_ns;    /* start of the host task; of a launch: of its cause */
    int64_t order_ns; /* launches of one call: as the device ran them */
    uint32_t task;
    bool launch;
    bool heads_line; /* the first of a stream's work that was in line before the interval began */
} pace_graph_entry;

typedef struct {
    pace_catalog *catalog;
    const pace_step *step;
    pace_graph *graph;
    pace_kernel_classes *classes;
    int64_t from_ns, to_ns;
    /* Of tasks. Zero where nothing is known, so that the memory of tasks far from the interval is never touched. */
    uint32_t *holder;     /* host task -> the nearest task at or above it that is a node, + 1 */
    uint32_t *op;         /* host task -> the nearest operator at or above it in the interval, + 1 */
    pace_name *module;    /* host task -> the module whose Python frame is nearest; 0 = none */
    int64_t *work_end_ns; /* host task -> end of the device work it launched, from the step's begin, + 1 */
    bool *fetches;      /* host task -> it, or one above it, fetches input and launches nothing; such a one is a node */
    uint32_t *number;   /* task -> number of its node or launch, + 1 */
    pace_name *renamed; /* step's names -> graph's + 1 */
    uint32_t *thread_of; /* lane -> thread or stream + 1 */
    PACE_VEC(pace_graph_entry) entries;
    bool host_only;                            /* the trace has no device: its operators are the work */
    pace_host_operators operators;             /* host only: which of them work */
    PACE_VEC(uint32_t) node_task, launch_task; /* number -> task; PACE_NO_TASK for what is no task */
} pace_graph_builder;

/** The nearest node at or above a host task; the nearest operator in the interval; PACE_NO_TASK = none. */
static inline uint32_t pace_graph_holder(const pace_graph_builder *b, uint32_t task) { return b->holder[task] - 1; }
static inline uint32_t pace_graph_operator(const pace_graph_builder *b, uint32_t task) { return b->op[task] - 1; }

/** The number of a task's node or launch; PACE_NO_NODE = none. */
static inline uint32_t pace_graph_number(const pace_graph_builder *b, uint32_t task) { return b->number[task] - 1; }

/** The end of the device work that a host task launched; INT64_MIN = none. */
static inline int64_t pace_graph_work_end(const pace_graph_builder *b, uint32_t task) {
    return b->work_end_ns[task] ? b->work_end_ns[task] - 1 + b->step->begins_ns : INT64_MIN;
}

/** Sets waits, waits_launch and after from the measured times. All nodes and launches must be there. */
pace_status pace_graph_link_by_times(pace_graph_builder *b) PACE_MUST_CHECK;

/** Sets every launch's operation and exchange, and counts unknown operators. */
pace_status pace_graph_set_ops(pace_graph_builder *b) PACE_MUST_CHECK;

/** A trace without a device: finds which operators work. */
pace_status pace_graph_find_host_work(pace_graph_builder *b) PACE_MUST_CHECK;

/** Gives the node of a host task, just added, the launches of its work, for which it waits. */
pace_status pace_graph_add_host_work(pace_graph_builder *b, uint32_t task) PACE_MUST_CHECK;

/** The name of the graph for a name of the step. */
pace_status pace_graph_rename(pace_name *out, pace_graph_builder *b, pace_name name) PACE_MUST_CHECK;

/** Whether a call returns only when device work has ended: by its name, or, of a copy, because it was done by then
 * (asynchronous copies of pageable memory are not). */
bool pace_graph_call_blocks(const pace_graph_builder *b, uint32_t call);
