/* How the arguments of an operator's call make an operation. Private to step/. */
#pragma once

#include "step/op_arguments.h"

typedef struct pace_op_rule pace_op_rule;

/** False when the shapes do not suffice. */
typedef bool (*pace_op_call_formula)(const pace_op_rule *rule, const pace_op_shapes *shapes, pace_op_draft *draft);

struct pace_op_rule {
    const char *prefix; /* namespace */
    const char *names;  /* with a space between; "*" at the end of one: anything may follow */
    pace_op_family family;
    pace_op_call_formula formula; /* NULL: only the family is known */
    int a, b, c;                  /* the formula's own: argument positions, operations per element */
    char name[64];                /* of a call: which of the names */
};

/* a, b: the matrices' positions, c: the addend's or -1 */
bool pace_call_matrix_product(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* linear(input [..., k], weight [n, k], bias) */
bool pace_call_linear(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: matrix, b: vector */
bool pace_call_matrix_vector(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* input 0, weight 1; a, b, c: stride, padding, dilation */
bool pace_call_convolution(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: gradient of the output, b: input, c: weight; both gradients */
bool pace_call_convolution_backward(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the causal flag; b: 1 = rows before heads */
bool pace_call_attention(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
bool pace_call_attention_backward(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* embedding(weight, indices); embedding_dense_backward(gradient, indices, rows) */
bool pace_call_embedding(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
bool pace_call_embedding_backward(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* fbgemm's lookups of many tables; a: weights, b: indices, c: offsets */
bool pace_call_embedding_tables(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the input; b: where the sizes that are normalized over stand, -1 = over the batch; c: operations per element */
bool pace_call_normalization(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: where the dimension stands; c: operations per element */
bool pace_call_softmax(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: where the dimensions stand, 0 = all are reduced; c: operations per element */
bool pace_call_reduction(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: how many operands (0 = all); b: bytes of an element written (0 = as read); c: operations per element */
bool pace_call_elementwise(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* the biggest argument, once through; c: operations per element */
bool pace_call_map(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* goes through every argument once, reading or writing; c: operations per element of the biggest */
bool pace_call_touch(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* writes its first argument: random numbers, c operations each */
bool pace_call_generate(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* copy_(to, from) */
bool pace_call_copy(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* reads everything and writes as much; cat's tensors come as a list */
bool pace_call_gather_all(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* writes its first argument */
bool pace_call_fill(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the argument whose elements are moved; b: an index, c: the dimension, of which that many are taken (-1 = none) */
bool pace_call_index(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* index(self, list of indices) */
bool pace_call_index_list(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the input; b: the window, stride and padding behind it; c: dimensions of the window */
bool pace_call_pooling(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the input; b: the output or, when it is a list of numbers, its sizes */
bool pace_call_adaptive_pooling(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a: the input of rows x columns; b: 1 = one element a row is read; c: operations per element */
bool pace_call_loss(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* lists of tensors; a: 1 = the first is written, 0 = a new one; c: operations per element */
bool pace_call_foreach(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
/* a fused update of the tensors of the first list; a: 1 = with a momentum where the third list has tensors */
bool pace_call_optimizer(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);

/* numbers counted up: arange, linspace, tril_indices */
bool pace_call_range(const pace_op_rule *, const pace_op_shapes *, pace_op_draft *);
