/*
 * A step without times: what the host issues, in order, and what each of these puts on the device.
 *
 * Execution traces, ONNX graphs, models and measured traces all become a pace_graph; the walk (schedule/walk.h) gives
 * each node and launch a time and returns a pace_step, on which everything that reads a measured step works.
 *
 * Nodes stand in issue order: a parent before its children, and the nodes of one thread in the order the thread runs
 * them (a child that starts later stands later). Launches stand in the order their thread issues them.
 */
#pragma once

#include "step/groups.h"
#include "step/op.h"
#include "step/step.h"

#define PACE_NO_NODE UINT32_MAX
#define PACE_NO_LAUNCH UINT32_MAX
#define PACE_NO_OP UINT32_MAX

/* An operator or an annotation on a host thread; or a runtime call that blocks, or that no operator makes. */
typedef struct {
    pace_name name;
    pace_name module; /* nn.Module path or layer, 0 = unknown */
    pace_name shapes; /* shape text (op_shapes.h), 0 = unknown */
    uint32_t parent;  /* enclosing node on the same thread, PACE_NO_NODE = top level */
    uint32_t thread;
    uint32_t after;        /* node of another thread that must have ended before this starts, or PACE_NO_NODE */
    uint32_t waits_node;   /* node that must have ended before this one ends (the caller of the backward thread) */
    uint32_t waits_launch; /* device work that must have ended before this node ends (a synchronisation) */
    uint32_t task;         /* of the measured step it was made from, PACE_NO_TASK = none */
    int64_t spends_ns;     /* the host spends just so long in it, whatever its name costs; -1 = what its name costs */
    int64_t pause_ns; /* the host does nothing that is recorded for so long before it, beyond what its name costs */
    uint8_t kind;     /* PACE_TASK_OP, PACE_TASK_ANNOTATION, PACE_TASK_CALL */
    uint8_t stage;    /* pace_stage; PACE_STAGE_NONE = to be found from names */
    bool marks_step;  /* an annotation that a recording's steps are found by, beside the profiler's own */
    bool outermost;   /* operators within it were left out */
} pace_graph_node;

/** Whether the node fetches input for a time of its own. The update on the host has one, too. */
static inline bool pace_graph_node_fetches(const pace_graph_node *node) {
    return node->spends_ns >= 0 && node->stage != PACE_STAGE_UPDATE;
}

/* Which size of what a launch computes grows with the samples. */
typedef enum {
    PACE_SAMPLES_UNKNOWN, /* a recording's: found from shapes */
    PACE_SAMPLES_FIRST,   /* the one of its family: samples of a convolution, rows, elements */
    PACE_SAMPLES_ROWS,    /* of products in a batch, such as experts: the rows of each */
    PACE_SAMPLES_SUMMED,  /* what is summed over: of a product that makes a weight's gradient, of a bias's sum */
    PACE_SAMPLES_NONE     /* parameters and their gradients are as many for any number of samples */
} pace_samples;

/* A kernel, copy, memset or exchange put on a stream. */
typedef struct {
    pace_name name;      /* the kernel's, 0 = unknown */
    pace_name call;      /* runtime call that launches it, 0 = cudaLaunchKernel */
    uint32_t node;       /* who issues it */
    uint32_t place;      /* issued before the node of this number and after those before it */
    uint32_t op;         /* what it computes: index in ops, PACE_NO_OP = unknown */
    uint32_t stream;     /* 0, 1, … */
    uint32_t waits[2];   /* launches on other streams that must have ended before it starts, or PACE_NO_LAUNCH */
    uint32_t exchange;   /* 1 + index in exchanges when it is one; 0 = not */
    uint32_t task;       /* of the measured step it was made from, PACE_NO_TASK = none */
    bool guessed;        /* its operation is no more than the tensors it touches */
    bool heads_line;     /* the first in line on its stream when the step began: it holds the stream from then on */
    bool adapts;         /* an adapter's, beside a frozen product */
    uint8_t samples;     /* pace_samples: which of its sizes counts them */
    bool same_call;      /* issued by the same call as the launch before it (a device graph) */
    uint8_t kind;        /* pace_task_kind: KERNEL, COPY, MEMSET */
    int64_t duration_ns; /* measured; -1 = to be priced */
    int64_t holds_ns;    /* of a captured step: its stream stands still so long first, nobody knows why */
} pace_launch;

static inline bool pace_launch_waits(const pace_launch *launch) {
    return launch->waits[0] != PACE_NO_LAUNCH || launch->waits[1] != PACE_NO_LAUNCH;
}

/* What ranks exchange. Launches of several ranks with the same key (collective, group, number within the group) meet,
 * or those that are told to. */
#define PACE_MEETS_NOBODY (-1)

typedef struct {
    pace_name collective; /* "allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "send", "recv", … */
    pace_name group;      /* its name, 0 = all ranks */
    int64_t group_size;   /* 0 = unknown */
    int64_t group_stride; /* between its ranks' numbers; 0 = unknown */
    int64_t peer;         /* send, recv: the other rank; -1 = none */
    double bytes;         /* what one rank puts in; all-gather: its part */
    double routed_nodes;  /* tokens to experts: nodes that a token goes to, at most; 0 = any; */
    double routed_copies; /* and to how many experts */
    uint8_t group_kind;   /* pace_group_kind */
    uint8_t role;         /* pace_exchange_role */
    int32_t
        meeting; /* launches of several ranks with the same number meet; 0 = those of the same key; PACE_MEETS_NOBODY */
} pace_graph_exchange;

/* An operator that issues device work whose amount is not known, and how often. */
typedef struct {
    pace_name name;
    uint64_t count;
} pace_unknown_op;

typedef struct {
    pace_names names;
    PACE_VEC(pace_graph_node) nodes;
    PACE_VEC(pace_launch) launches;
    PACE_VEC(pace_op) ops; /* interned: equal operations share one */
    PACE_VEC(pace_graph_exchange) exchanges;
    uint32_t *op_slots; /* hash table of ops */
    size_t op_slot_count;
    PACE_VEC(uint32_t)
    op_behind; /* operation -> the one asked for after it the last time: layers and micro-batches repeat themselves */
    uint32_t last_op; /* asked for */
    PACE_VEC(uint32_t)
    turn_ends; /* of a pipeline's stage: launches on stream 0 when each of its turns had been issued */
    uint32_t thread_count, stream_count;
    int64_t rank, world_size;          /* -1 = unknown */
    double micro_batches;              /* whose gradients each step adds; 0 = unknown */
    pace_name device_name;             /* the device it was recorded on, 0 = none */
    PACE_VEC(pace_unknown_op) unknown; /* in order of first appearance */
    uint64_t unknown_ops;              /* the sum of their counts */
} pace_graph;

pace_status pace_graph_init(pace_graph *graph) PACE_MUST_CHECK;
void pace_graph_free(pace_graph *graph);

/** Appends a node with no links; *out is its number. */
pace_status pace_graph_add_node(uint32_t *out, pace_graph *graph, pace_task_kind kind, const char *name,
                                uint32_t parent, uint32_t thread) PACE_MUST_CHECK;

/** The same of a name that is one of the graph's. */
pace_status pace_graph_add_named_node(uint32_t *out, pace_graph *graph, pace_task_kind kind, pace_name name,
                                      uint32_t parent, uint32_t thread) PACE_MUST_CHECK;

/** Appends a launch of the node, to be priced, with no links, placed behind the nodes appended so far; `op` may be
 * NULL.
 */
pace_status pace_graph_add_launch(uint32_t *out, pace_graph *graph, uint32_t node, pace_task_kind kind,
                                  const pace_op *op, uint32_t stream) PACE_MUST_CHECK;

/** Makes a launch the exchange. One without a kind takes kind and role from the name of its group. */
pace_status pace_graph_add_exchange(pace_graph *graph, uint32_t launch,
                                    const pace_graph_exchange *exchange) PACE_MUST_CHECK;

/** Whether the call that issues a launch issues others too, as that of a device graph does. */
bool pace_launch_of_several(const pace_graph *graph, uint32_t launch);

/** What a launch exchanges; NULL = nothing. */
const pace_graph_exchange *pace_graph_exchange_of(const pace_graph *graph, uint32_t launch);

/** The number of an operation, added when new. */
pace_status pace_graph_intern_op(uint32_t *out, pace_graph *graph, const pace_op *op) PACE_MUST_CHECK;

/** Counts an operator as unknown. */
pace_status pace_graph_count_unknown(pace_graph *graph, pace_name name) PACE_MUST_CHECK;

/** The invariants: parents come first and share the thread, links name what exists, and nothing waits for itself (no
 * cycle over after, waits, streams and issue order). PACE_E_INPUT names the first fault. */
pace_status pace_graph_check(const pace_graph *graph) PACE_MUST_CHECK;
