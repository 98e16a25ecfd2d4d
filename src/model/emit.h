/*
 * What lowering writes with: operators that open and close, launches, exchanges, and the operations of each family.
 * The first failure is kept in `status`; calls behind it do nothing, so that lowering reads as what it issues.
 */
#pragma once

#include "model/buckets.h"
#include "model/model.h"
#include "model/pipeline_stages.h"
#include "step/graph.h"

enum { PACE_EMIT_DEPTH = 8, PACE_EMIT_NAMES = 256 };

/* Texts among the names of a graph, found by where they lie: most are literals, each named a thousand times. */
typedef struct {
    const char *text[PACE_EMIT_NAMES];
    pace_name name[PACE_EMIT_NAMES];
} pace_emit_names;

typedef struct pace_lowering {
    pace_graph *graph;
    const pace_model *model;
    const pace_config *config;
    double batch, sequence; /* of one rank: context parallelism splits the sequence */
    pace_status status;

    /* of a pipeline: which stage is lowered, and what it does now */
    pace_stages cut;
    uint32_t own_stage;
    pace_turn turn;
    pace_layer_range part; /* of layers, which the turn is about */

    /* where the host is */
    uint32_t thread;
    pace_stage stage;
    pace_name module;
    uint32_t open[PACE_EMIT_DEPTH];
    unsigned depth;
    bool outermost;        /* operators within others are left out now */
    bool left_out[2];      /* of each thread: one was, behind the last node */
    uint32_t last_node[2]; /* of each thread */
    pace_emit_names names;
    pace_emit_names around;        /* of what autograd calls around a backward function */
    pace_emit_names outer;         /* of what stands before the first " > " of a text */
    pace_name groups[PACE_GROUPS]; /* 0 = not yet named */
    uint32_t region;               /* compiled, graph: the operator that issues everything; PACE_NO_NODE = eager */
    pace_name call;                /* of its launches, when one call makes all of them */
    unsigned captured;             /* launches of that call so far */
    bool captures;                 /* a part of the step, whose gradients are kept and exchanged behind it */
    pace_gradient_tensors held;    /* these gradients */
    uint32_t segment;              /* of a block: which */
    bool dispatches;               /* the next launch is made by the call "dispatch" */
    uint32_t after;                /* the next node waits for it */
    uint32_t last_launch;          /* on stream 0 */
    uint32_t computes;             /* launches there so far */
    uint32_t await_exchange;       /* the next launch on stream 0 waits for it */
    uint32_t last_exchange;        /* of gradients */
    uint32_t await_pull;           /* and for this one */
    uint32_t await_copy;           /* the next that waits for no pull waits for this copy */

    /* compiled: what is being fused */
    pace_op fused;
    unsigned fused_count;
    double fused_last_bytes; /* written by its last operation */
    bool keeps;              /* what is written now is read again later */

    /* per layer */
    int *bytes;          /* of an element of its output */
    uint32_t *gradients; /* arrived at its output in this backward pass */
    uint32_t *uses;      /* layers that read it */
    bool *needs_gradient;
    bool frozen;      /* the layer at hand: its parameters get no gradient */
    bool adapts;      /* it is an adapter's */
    uint8_t samples;  /* pace_samples of what is emitted; 0 = the family's first */
    uint32_t *copies; /* of activations of the block that ends there: to the host, then back; PACE_NO_LAUNCH = none */
    uint32_t *pulls;  /* that bring its (block's) parameters; PACE_NO_LAUNCH = none do, or they are here */
    pace_gradient_bucket bucket, expert_bucket; /* gradients not yet exchanged */
    pace_gradient_tensors tensors;              /* whose gradients have come in this micro-batch, the step's last */
    bool accumulates;                           /* a micro-batch before this one left gradients */
    bool is_last_micro_batch, is_last_turn;
    bool exchanges_gradients; /* of this micro-batch: the last, or with ZeRO 3 each */
} pace_lowering;

/** The layers of a chunk of the stage that is lowered. */
const pace_layer_range *pace_lower_part_of(const pace_lowering *to, uint32_t chunk);

/** A text among the graph's names. */
pace_name pace_emit_name(pace_lowering *to, const char *text);

/* ---- host ---- */
void pace_emit_open(pace_lowering *to, const char *name);
void pace_emit_annotation(pace_lowering *to, const char *name); /* opens */
void pace_emit_close(pace_lowering *to);
/** The operator at hand waits for what was launched last. */
void pace_emit_await(pace_lowering *to);
/** An operator that gives the device nothing. */
void pace_emit_host(pace_lowering *to, const char *name);
/** An operator with one launch; "aten::to > aten::copy_" is the second within the first. */
void pace_emit_op(pace_lowering *to, const char *names, pace_op op);
/** The same within a backward function ("AddmmBackward0"). */
/** The same, where another size than the family's first counts samples, or none does. */
void pace_emit_sized_op(pace_lowering *to, pace_samples samples, const char *names, pace_op op);
void pace_emit_sized_launch(pace_lowering *to, pace_samples samples, pace_op op);
void pace_emit_sized_backward_op(pace_lowering *to, pace_samples samples, const char *function, const char *names,
                                 pace_op op);
void pace_emit_backward_op(pace_lowering *to, const char *function, const char *names, pace_op op);
/** Autograd's two levels around a backward function ("AddmmBackward0"). */
void pace_emit_open_backward(pace_lowering *to, const char *name);
void pace_emit_close_backward(pace_lowering *to);
/** A backward function that only makes views. */
void pace_emit_backward_view(pace_lowering *to, const char *name);

/* ---- device ---- */
void pace_emit_launch(pace_lowering *to, pace_op op);
/** Ends what is being fused. */
void pace_emit_flush(pace_lowering *to);
/** An exchange of activations, for which the next operation on stream 0 waits. */
void pace_emit_exchange(pace_lowering *to, const char *collective, pace_group_kind group, double bytes);

/** Tokens to the ranks of their experts, or back: of each so many copies, on at most so many nodes (0 = each by
 * itself). */
void pace_emit_tokens(pace_lowering *to, double bytes, double copies, double nodes);

/** Gradients of the data-parallel ranks of a group, summed behind what stream 0 was given and beside what follows. */
void pace_emit_gradients(pace_lowering *to, const char *collective, pace_group_kind group, double bytes);

/** What a stage of a pipeline hands to another: activations, or their gradients. Of what it receives the next operation
 * on stream 0 waits. */
typedef struct {
    bool gradients, sends;
    int64_t peer; /* rank */
    double bytes;
} pace_stage_message;
void pace_emit_message(pace_lowering *to, const pace_stage_message *message);

/** A rank's part of parameters goes to the other replicas, and theirs come, beside what is done meanwhile. Returns its
 * launch; PACE_NO_LAUNCH after a failure. */
uint32_t pace_emit_gather(pace_lowering *to, pace_group_kind group, double bytes);

/** A tensor that the first and the last stage hold: its gradients are added, before the next operation. */
void pace_emit_tied_gradients(pace_lowering *to, double bytes);

/** Copies bytes between the memories of host and device ("d2h_pinned", "h2d_pinned"), behind what was computed so far
 * and beside what follows. */
uint32_t pace_emit_copy_beside(pace_lowering *to, const char *name, const char *kind, double bytes);

/** Parameters that come from servers, on stream 1 behind what stream 0 was given. Returns its launch, of the operator
 * that is open; PACE_NO_LAUNCH after a failure. */
uint32_t pace_emit_pull(pace_lowering *to, double bytes);

/* ---- operations; `bytes` of an element ---- */
pace_op pace_emit_gemm(const pace_lowering *to, double b, double m, double n, double k, int bytes);
/** A linear layer's product of m rows with weights of n x k, or its gradient, which has these sizes, too. */
pace_op pace_emit_linear(const pace_lowering *to, pace_pass pass, double m, double n, double k, int bytes);
pace_op pace_emit_elementwise(const pace_lowering *to, const char *kind, double elements, double inputs, double outputs,
                              int bytes);
pace_op pace_emit_rows(const pace_lowering *to, pace_op_family family, const char *kind, pace_pass pass, double rows,
                       double columns, int bytes);
/** The sums of the columns. */
pace_op pace_emit_sums(const pace_lowering *to, double rows, double columns, int bytes);
pace_op pace_emit_copy(const pace_lowering *to, const char *kind, double elements, int bytes);
/** A copy between precisions. */
pace_op pace_emit_cast(const pace_lowering *to, double elements, int from_bytes, int to_bytes);
/** The same where what is written has elements of `bytes`. */
pace_op pace_emit_written_as(pace_op op, int bytes);
pace_op pace_emit_transfer(const char *kind, double bytes);

/** Makes ready to lower into a graph: what each layer's output is, and who reads it; of a pipeline the first stage. End
 * with pace_lowering_end(), also after a failure. */
pace_status pace_lowering_begin(pace_lowering *to, pace_graph *graph, const pace_model *model,
                                const pace_config *config) PACE_MUST_CHECK;
void pace_lowering_end(pace_lowering *to);

/* ---- layers (lower_forward.c, lower_backward.c) ---- */
void pace_lower_forward(pace_lowering *to, uint32_t layer);
/** What of it runs again before its block's backward pass; `products` as of pace_layer_again(). */
void pace_lower_again(pace_lowering *to, uint32_t layer, unsigned *products);
void pace_lower_backward(pace_lowering *to, uint32_t layer);

/* ---- gradients (lower_gradients.c) ---- */
/** Exchanges the gradients that no full bucket took along. */
void pace_lower_send_buckets(pace_lowering *to);
/** The same, and copies all back from their buckets. */
void pace_lower_last_bucket(pace_lowering *to);
/** FSDP's copy into or out of the flat buffer that an exchange of ZeRO 3 works on, and before it a view of each of the
 * tensors that are its parts (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py). */
void pace_lower_flat_copy(pace_lowering *to, const char *name, double tensors, double elements, int bytes);
/** What autograd does with one parameter's gradient: keeps or adds it, and gives it to its bucket. */
void pace_lower_gradient(pace_lowering *to, pace_gradient_tensor tensor);

/* ---- the update (lower_update.c) ---- */
void pace_lower_zero_grad(pace_lowering *to);
/** The host reads the loss and waits for it: whether it does so before backward. */
void pace_lower_read_loss(pace_lowering *to);
/** The gradient of the loss, behind whose last operator autograd's thread begins. */
void pace_lower_loss_gradient(pace_lowering *to);
bool pace_lower_reads_first(const pace_lowering *to);
void pace_lower_update(pace_lowering *to);

/** The products of a layer that repeats are in fp8 where the configuration says so; the last one is not. */
pace_op pace_emit_in_segment(const pace_lowering *to, const pace_layer *layer, pace_op op);

/* Elements of a tensor on one rank. Sequence parallelism splits by tokens what tensor parallelism leaves whole. */
static inline double pace_emit_elements(const pace_lowering *to, const pace_shape *shape) {
    bool split = shape->sequence && (shape->sharded || to->config->sequence_parallel > 0);
    return to->batch * pace_shape_elements(shape, to->sequence) / (split || shape->sharded ? to->config->tp : 1);
}
/** Places of a shape: elements over channels. */
static inline double pace_emit_places(const pace_lowering *to, const pace_shape *shape) {
    return to->batch * (shape->sequence ? to->sequence : 1) * shape->height * shape->width;
}
static inline double pace_emit_channels(const pace_lowering *to, const pace_shape *shape) {
    return shape->channels / (shape->sharded ? to->config->tp : 1);
}
