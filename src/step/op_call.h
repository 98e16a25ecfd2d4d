/* From an operator's call to the operations it puts on a device. */
#ifndef PACE_STEP_OP_CALL_H
#define PACE_STEP_OP_CALL_H

#include "step/op_shapes.h"

/** The operation that an operator of this name is, given the shapes of its arguments (NULL = unknown). False when the
 * operator or its shapes are not understood: *out is then its family at most, without amounts. */
bool pace_op_of_call(pace_op *out, const char *name, const pace_op_shapes *shapes);

#endif
