/* From an operator's call to the operations it puts on a device. */
#pragma once

#include "step/op_shapes.h"

enum { PACE_CALL_OPS = 2 };

/** The operations that an operator of this name issues, in order, given the shapes of its arguments (NULL = unknown):
 * one or two. 0 when the operator or its shapes are not understood. *family is set whenever the name is known. */
unsigned pace_ops_of_call(pace_op out[PACE_CALL_OPS], pace_op_family *family, const char *name,
                          const pace_op_shapes *shapes);

/** Whether an operator issues no device work itself: views, allocations, and those made of others. */
bool pace_op_is_idle(const char *name);

/** Whether an operator of this family works itself although operators below it do, whose families are the bits of
 * `below`: products and convolutions do, when none of these is of their own kind (those below add a bias); of all
 * others the innermost is the one that works. */
bool pace_op_works_itself(pace_op_family family, uint32_t below);

/** Whether an operator is autograd's of a look-up in many tables (fbgemm). Its call does not show their sizes: it has
 * those of the look-up it belongs to, the last one that has no gradient yet. */
bool pace_op_is_lookup_gradient(const char *name);

/** The gradient of an operation as an operation: of the same sizes, all gradients in one. */
pace_op pace_op_gradient(const pace_op *forward);
