/* The arguments of an operator's call, as far as traces record them. */
#pragma once

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
