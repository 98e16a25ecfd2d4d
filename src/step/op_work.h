/*
 * How much arithmetic an operator is, and how many bytes it must move at least: from the shapes that a trace
 * records of its arguments. A table of operators (op_work.c) says which formula applies.
 */
#pragma once

#include "step/call_arguments.h"

/** The operation of an ATen operator: family, pass, kind, sizes, amounts. False when the operator has no formula or the
 * shapes do not suffice: *out is the family alone then. Amounts are 0 where an element's size is missing. */
bool pace_op_make(pace_op *out, const char *name, const pace_op_shapes *shapes);

/** Its amounts alone: floating-point operations (a multiply-add is two) and bytes from and to DRAM (inputs read once,
 * outputs written once) of the ATen operator `name`. False when the operator has no formula or the shapes do not
 * suffice: *flop and *bytes are 0 then. *bytes is 0 too when an element size is missing. *family is always set.
 * `shapes` may be NULL. */
bool pace_op_work(const char *name, const pace_op_shapes *shapes, double *flop, double *bytes, pace_op_family *family);
