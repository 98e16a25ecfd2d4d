/* From the shapes a trace recorded to what an operator computes and moves. */
#ifndef PACE_STEP_OP_SHAPES_H
#define PACE_STEP_OP_SHAPES_H

#include "step/op_work.h"
#include "step/step.h"

typedef struct {
    double flop, bytes;
    int element_bytes; /* of the first tensor */
    pace_op_family family;
} pace_op_amount;

/** What the operator task computes and moves; false when its shapes are unknown or its kind is not modelled. */
bool pace_op_amount_of(pace_op_amount *out, const pace_step *step, uint32_t op);

/** Parses the shape text of a task ("[[2,3],[3]]\n[\"float\",\"float\"]\n[…]"). False when it is not one. */
bool pace_op_shapes_parse(pace_op_shapes *out, const char *text);

#endif
