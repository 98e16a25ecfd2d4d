/*
 * A network as oneDNN runs it. Each layer is a node: its output, its gradient, and for each pass the list of primitives
 * (and few functions) that make them. All is planned before anything is allocated: memory objects get their memory
 * last.
 *
 * The first failure is kept in `failed`; calls behind it do nothing, so that planning reads as what it plans.
 */
#pragma once

#include "../layer_engine.h"

#include <oneapi/dnnl/dnnl.h>

enum { MOST_ARGUMENTS = 12, MOST_INPUTS = 64, MOST_KEPT = 6 };

/* A piece of memory that tensors lie in. Slots of gradients are taken again by earlier layers once they are
 * consumed. */
typedef struct {
    size_t bytes;
    void *data;
    unsigned users; /* gradients that lie in it; 0 = it may be taken again, if it is of gradients */
    bool of_gradients;
} slot;

typedef struct {
    dnnl_memory_desc_t desc;
    dnnl_memory_t memory;
    size_t slot;
    size_t offset; /* in the slot */
} tensor;

struct net;
struct node;
typedef void step_function(struct net *net, struct node *node);

typedef struct {
    dnnl_primitive_t primitive; /* or */
    step_function *function;
    dnnl_exec_arg_t arguments[MOST_ARGUMENTS];
    int count;
} action;

typedef struct {
    action *items;
    size_t count, room;
} actions;

typedef struct node {
    const pace_layer *layer;
    uint32_t index;
    struct node *inputs[MOST_INPUTS];
    size_t input_count;
    unsigned uses;                     /* nodes that read its output */
    uint32_t first_use;                /* the first node that does */
    bool needs_gradient;               /* parameters lie before it, or in it */
    bool is_index;                     /* an input of indices */
    size_t rows, columns;              /* of its output: places of all samples, channels */
    tensor *value, *gradient, *turned; /* the gradient in another layout */
    tensor *kept[MOST_KEPT];           /* for its own backward */
    dnnl_primitive_desc_t forward, forward_more;
    size_t first_parameter, parameter_count;
    actions pass[PACE_ENGINE_PASSES];
    uint64_t draws;  /* of dropout so far */
    bool adds;       /* to a gradient that is there */
    tensor *dropped; /* attention: scores, some taken out; interaction: gradients of vectors */
} node;

typedef struct {
    uint32_t layer;
    pace_tensor_role role;
    tensor *weights, *gradient; /* of a sparse table no gradient */
    dnnl_memory_desc_t plain;
    size_t fan_in;
    bool is_shared; /* its gradient has been written to: the next writer adds */
} parameter;

typedef struct net {
    const pace_engine_network *of;
    size_t batch, sequence;
    node *nodes;
    size_t node_count;
    slot *slots;
    size_t slot_count, slot_room;
    tensor **tensors;
    size_t tensor_count, tensor_room;
    parameter *parameters;
    size_t parameter_count, parameter_room;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    node *loss_node;
    void *labels;
    size_t label_count, classes;
    double loss, right;
    pace_engine_result failed;
    char message[PACE_ENGINE_MESSAGE];
} net;

/* --- tensors.c ---------------------------------------------------------------------------------------------------- */

/** Grows an array of `size`-byte items by one; NULL after a failure. */
void *net_push(net *n, void *items, size_t *count, size_t *room, size_t size);

/** Notes the first failure. */
void net_fail(net *n, pace_engine_result result, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** The same of a layer it cannot do. */
void net_refuse(net *n, const node *of, const char *why);
/** Whether oneDNN's answer is success; notes a failure of this layer. */
bool net_is_fine(net *n, const node *of, dnnl_status_t status, const char *what);

tensor *tensor_new(net *n, const dnnl_memory_desc_t *desc);
/** In the memory of another. */
tensor *tensor_in(net *n, const dnnl_memory_desc_t *desc, const tensor *other);
/** The same, so many floats behind its beginning. */
tensor *tensor_behind(net *n, const dnnl_memory_desc_t *desc, const tensor *other, size_t floats);
/** A gradient's, in memory that later layers need no more; give it back with tensor_done(). */
tensor *tensor_passing(net *n, const dnnl_memory_desc_t *desc);
void tensor_done(net *n, const tensor *t);
void tensor_also(net *n, const tensor *t); /* one more user */

dnnl_memory_desc_t desc_of(int rank, const size_t *dims, dnnl_format_tag_t tag);
static inline bool desc_same(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b) {
    return dnnl_memory_desc_equal(a, b) != 0;
}
float *tensor_floats(const net *n, const tensor *t);
size_t tensor_elements(const tensor *t);
double net_bytes(const net *n);
bool net_allocate(net *n);

/* --- actions.c ---------------------------------------------------------------------------------------------------- */

typedef struct {
    int argument;
    tensor *t;
} bound;

/** A primitive of a description, with its tensors; the list ends with {0}. Frees the description unless `keep`. */
void act(net *n, node *of, pace_engine_pass pass, dnnl_primitive_desc_t desc, bool keep, const bound *tensors);
void act_function(net *n, node *of, pace_engine_pass pass, step_function *function);
#define BOUND(...) ((const bound[]){__VA_ARGS__, {0}})

/** The layout that a primitive wants an argument in. */
const dnnl_memory_desc_t *wanted(dnnl_primitive_desc_t desc, int argument);
/** A description made of an operation's; NULL after noting a failure. `hint`: of the forward pass, for backward
 * ones. */
dnnl_primitive_desc_t describe(net *n, const node *of, const void *operation, dnnl_primitive_desc_t hint);

/** A layer's value by one forward operation on `source`, and what that keeps for the gradient. */
void act_with_workspace(net *n, node *of, tensor *source, const void *operation);

/** The tensor in another layout: itself, or a copy that the pass makes. */
tensor *in_layout(net *n, node *of, pace_engine_pass pass, tensor *have, const dnnl_memory_desc_t *want);
/** Copies with a change of layout. */
void act_copy(net *n, node *of, pace_engine_pass pass, tensor *from, tensor *to);

/** Where backward writes the gradient of an input, laid out as it makes it: the input's own, or what is added to it by
 * gradient_end(). */
tensor *gradient_begin(net *n, node *input, const dnnl_memory_desc_t *made);
void gradient_end(net *n, node *of, node *input, tensor *written);

/** The node's own gradient in another layout; both passes of backward share one copy. */
tensor *own_gradient(net *n, node *of, pace_engine_pass pass, const dnnl_memory_desc_t *want);

/** A new parameter of a layer, and where backward writes its gradient. */
parameter *parameter_new(net *n, node *of, pace_tensor_role role, const dnnl_memory_desc_t *plain,
                         const dnnl_memory_desc_t *desc, size_t fan_in);
tensor *parameter_begin(net *n, parameter *p, const dnnl_memory_desc_t *made);
void parameter_end(net *n, node *of, parameter *p, tensor *written);

/* --- kinds of layers ---------------------------------------------------------------------------------------------- */

/* Plan the forward pass of a node (it gets its value), and the backward ones (its gradient is there). */
typedef void plan_function(net *n, node *of);
typedef struct {
    plan_function *forward, *backward;
} layer_plan;

plan_function forward_convolution, backward_convolution, forward_linear, backward_linear;       /* products.c */
plan_function forward_batch_norm, backward_batch_norm, forward_layer_norm, backward_layer_norm; /* norms.c */
plan_function forward_local_norm, backward_local_norm;
plan_function forward_activation, backward_activation, forward_dropout, backward_dropout;   /* elementwise.c */
plan_function forward_max_pool, forward_average_pool, forward_adaptive_pool, backward_pool; /* pools.c */
plan_function forward_flatten, backward_flatten, forward_add, backward_add;                 /* joins.c */
plan_function forward_concat, backward_concat, forward_multiply, backward_multiply;
plan_function forward_select, backward_select;
plan_function forward_embedding, backward_embedding, forward_positions, backward_positions; /* embeddings.c */
plan_function forward_embedding_bag, backward_embedding_bag;
plan_function forward_interaction, backward_interaction, forward_attention, backward_attention; /* attention.c */
plan_function forward_input, forward_loss, backward_loss;                                       /* losses.c */

/** Draws what dropout takes out of a tensor. */
void draw_mask(net *n, node *of, tensor *mask, double p);

void update_table_rows(net *n, parameter *p, float rate, const pace_engine_rows *rows);
void rows_of_tables(const net *n, const parameter *p, pace_engine_rows *out);

static inline double option_of(const node *of, pace_layer_option option) { return of->layer->option[option]; }
#define OPT(of, NAME) ((dnnl_dim_t)option_of((of), PACE_OPTION_##NAME))
