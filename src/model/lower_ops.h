/* Operations that forward and backward share, from a layer's options to a pace_op. */
#pragma once

#include "model/emit.h"

/* A layer as its operators see it. */
typedef struct pace_layer_view {
    const pace_layer *layer;
    const pace_layer *input; /* its first, or itself when it has none */
    uint32_t number, from;   /* theirs */
    double elements;         /* of the output */
    double in_elements;
    int bytes, in_bytes;
    bool wants; /* its first input needs a gradient */
} pace_layer_view;

pace_layer_view pace_layer_view_of(const pace_lowering *to, uint32_t number);

typedef struct {
    const char *word, *kind;
    const char *forward, *second; /* operators; `second` comes first where there are two */
    const char *function, *backward;
    double reads; /* tensors the backward kernel reads */
} pace_activation;

/** A batch norm's kernel in a pass. Of a compiled step the sums over a channel of all images, which it needs before it
 * can begin, are a kernel of their own, emitted here, and what is left is as any other operation on each element. */
pace_op pace_lower_batch_norm(pace_lowering *to, const pace_layer_view *view, pace_pass pass);

/** Elements of the i-th input over those of the output: a branch may have one for each channel of an image. */
double pace_lower_share_of_input(const pace_lowering *to, const pace_layer_view *view, uint32_t i);

const pace_activation *pace_lower_activation(const char *word);

typedef struct {
    double b, heads, kv_heads, queries, keys, head_dim, value_dim;
    double window;        /* keys that a query sees at most; 0 = all */
    double samples, held; /* of one rank: samples, whose parts are `b`, and keys of each */
    bool causal, drops;   /* drops: dropout of weights */
} pace_attention;

/** Experts' products: `groups` of `each` rows, together `rows`. */
typedef struct {
    double groups, each, rows;
    double copies; /* of a token */
    double nodes;  /* that the router keeps a token to; 0 = any */
} pace_expert_size;

/* How wide scores are behind the mask and behind the softmax, and weights where dropout takes them. */
typedef struct {
    int masked, softmax, dropped;
} pace_score_bytes;

/** Bytes of an element within a root-mean-square norm whose input has `bytes`: single precision in eager steps; a
 * compiler keeps it in registers. */
int pace_lower_norm_bytes(const pace_lowering *to, int bytes);

/** Of attention that forms its scores, `bytes` wide: autocast has the softmax in single precision. */
pace_score_bytes pace_lower_score_bytes(const pace_lowering *to, const pace_attention *size, int bytes);

pace_attention pace_lower_attention_size(const pace_lowering *to, const pace_layer *layer);
pace_op pace_lower_attention(const pace_lowering *to, const pace_attention *size, pace_pass pass, int bytes);
/** Flash attention has no single precision; the memory-efficient kernel does. */
const char *pace_lower_attention_name(int bytes, bool backward);
pace_op pace_lower_convolution(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes);
/** A convolution of the pass and the sizes that `op` has, in the layer's precision and the layout of its input. */
pace_op pace_lower_convolution_op(const pace_lowering *to, pace_op op, const pace_shape *in, int bytes);
/** Whether an image lies channels last: all do, or it is a view of tokens. */
bool pace_lower_channels_last(const pace_lowering *to, const pace_shape *image);
pace_op pace_lower_pooling(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes);
pace_op pace_lower_embedding(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes);
pace_op pace_lower_layer_norm(const pace_lowering *to, const pace_layer *layer, pace_pass pass, int bytes);
pace_op pace_lower_tril(const pace_lowering *to, double vectors, pace_pass pass, int bytes);
pace_op pace_lower_dropout(const pace_lowering *to, double elements, int bytes);
pace_op pace_lower_other(const pace_lowering *to, const char *kind, double elements, int bytes);
/** Share of a replica's tokens that a rank sends to experts: tensor-parallel ranks with whole experts have words of
 * their own. */
double pace_lower_routed_share(const pace_lowering *to);
pace_expert_size pace_lower_expert_size(const pace_lowering *to, const pace_layer *layer);

/* Backward, of every kind of layer: */
/** One more gradient for each of the layer's inputs. */
void pace_backward_give(pace_lowering *to, const pace_layer_view *view);
/** Keeps a gradient of each of its parameter tensors. */
void pace_backward_keep(pace_lowering *to, const pace_layer_view *view);
/** A function with one operation, which gives its inputs their gradients. */
void pace_backward_map(pace_lowering *to, const pace_layer_view *view, const char *function, const char *name,
                       pace_op op);

/** A copy in another precision, as autocast has it; its gradient. */
void pace_forward_cast(pace_lowering *to, double elements, int from_bytes, int to_bytes);
void pace_backward_cast(pace_lowering *to, pace_samples samples, double elements, int from_bytes, int to_bytes);
/** A function of one map over elements, whose gradient goes to no input of the layer yet. */
void pace_backward_one_map(pace_lowering *to, const char *function, const char *name, const char *kind, double elements,
                           double inputs, int bytes);
/** Both gradients of a batched product. */
void pace_backward_two_products(pace_lowering *to, double b, double m, double n, double k, int bytes);

/** Sends each token to the ranks of its experts, or back (expert parallelism). */
void pace_lower_dispatch(pace_lowering *to, const pace_expert_size *size, double channels, int bytes);
/** Keys and values of the tokens of one rank (context parallelism). */
double pace_lower_context_bytes(const pace_lowering *to, const pace_attention *size, int bytes);

/** Whether autocast gives the layer a precision of its own. */
bool pace_lower_is_cast(const pace_layer *layer);
/** Forms weights that are kept in fewer bits as wide as products take them. */
void pace_lower_widen(pace_lowering *to, const pace_layer *layer, double weights);
/** Parameters of the layer on one rank; those that are kept in fewer bits count by their bytes. */
double pace_lower_parameters(const pace_lowering *to, const pace_layer *layer);
/** Whether the layer's weight is the first one's table, and how many elements that has on one rank. */
bool pace_lower_is_tied(const pace_layer *layer);
/** Whether the last part of a pipeline is on another stage than the first, and holds a copy of such a table. */
bool pace_lower_has_tied_copy(const pace_lowering *to);
double pace_lower_tied_elements(const pace_lowering *to, const pace_layer *layer);
/** The same of a copy: a shared table is the first stage's. 0 where a layer has none. */
double pace_lower_tied_copy(const pace_lowering *to, const pace_layer *layer);

/* lower_loss.c: a cross entropy of single operations (parts_loss), of a rank's tokens and words. */
void pace_forward_parts_loss(pace_lowering *to, const pace_layer_view *view, double tokens, double words);
void pace_backward_parts_loss(pace_lowering *to, const pace_layer_view *view, double tokens, double words);
