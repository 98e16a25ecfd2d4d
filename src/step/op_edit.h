/* The same operation of another size or precision: how what-ifs change what is computed. */
#pragma once

#include "step/op.h"

/** Multiplies one size; flop and bytes follow in the proportion in which the family's formula has them (op.h), or,
 * where the other sizes do not suffice for that, with the factor. */
void pace_op_scale_size(pace_op *op, unsigned which, double factor);

/** The size that counts samples, of a family that has only one that can: a convolution's n, a norm's rows. Matrix
 * products have three; ask for the one that does. */
unsigned pace_op_sample_size(const pace_op *op);

/** Matrix operations compute in `precision`, on elements of its width. Others keep their arithmetic; their elements
 * change when they have `present_bytes`, the width of the matrix operations so far, to its width but no less than two
 * bytes: eight-bit formats hold the operands of matrix products alone. Updates, transfers between host and device and
 * copies of bytes stay. */
void pace_op_set_precision(pace_op *op, pace_precision precision, int present_bytes);

/** Whether the family's arithmetic runs at the matrix rate of a precision. */
bool pace_op_is_matrix(pace_op_family family);

/** Several element-wise operations in one kernel, each reading what the one before it wrote: what lies between is
 * neither written nor read. All must have the same number of elements. */
pace_op pace_op_fuse(const pace_op *ops, unsigned count);
