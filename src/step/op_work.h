/*
 * How much arithmetic an operator is, and how many bytes it must move at least: from the shapes that a trace
 * records of its arguments. A table of operators (op_work.c) says which formula applies.
 */
#ifndef PACE_STEP_OP_WORK_H
#define PACE_STEP_OP_WORK_H

#include "step/op.h"

enum { PACE_OP_ARGUMENTS = 16 }; /* attention's backward names whether it is causal in its fifteenth */

/** The arguments of a call, by position. */
typedef struct {
    int64_t dims[PACE_OP_ARGUMENTS][6];             /* a tensor's sizes */
    unsigned char rank[PACE_OP_ARGUMENTS];          /* how many of them */
    unsigned char element_bytes[PACE_OP_ARGUMENTS]; /* 0 = unknown, or not a tensor */
    unsigned count;                                 /* arguments, at most PACE_OP_ARGUMENTS */
    int64_t scalars[PACE_OP_ARGUMENTS][4]; /* what is not a tensor: a number, a list's first numbers, true = 1 */
    unsigned char scalar_count[PACE_OP_ARGUMENTS]; /* how many of them */
    /* a list of tensors */
    double list_elements[PACE_OP_ARGUMENTS], list_largest[PACE_OP_ARGUMENTS]; /* of all; of the largest */
    unsigned list_count[PACE_OP_ARGUMENTS];                                   /* tensors with elements */
    unsigned char list_mask[PACE_OP_ARGUMENTS]; /* bit k: the k-th of the first eight has elements */
} pace_op_shapes;

/** The operation of an ATen operator: family, pass, kind, sizes, amounts. False when the operator has no formula or the
 * shapes do not suffice: *out is the family alone then. Amounts are 0 where an element's size is missing. */
bool pace_op_make(pace_op *out, const char *name, const pace_op_shapes *shapes);

/** Its amounts alone: floating-point operations (a multiply-add is two) and bytes from and to DRAM (inputs read once,
 * outputs written once) of the ATen operator `name`. False when the operator has no formula or the shapes do not
 * suffice: *flop and *bytes are 0 then. *bytes is 0 too when an element size is missing. *family is always set.
 * `shapes` may be NULL. */
bool pace_op_work(const char *name, const pace_op_shapes *shapes, double *flop, double *bytes, pace_op_family *family);

#endif
