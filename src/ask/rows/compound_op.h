/*
 * Operations that tables time as one and that are several here: a recurrent layer over its time steps, a layer of
 * experts. Each is a few operations, each some times.
 */
#pragma once

#include "step/op.h"

typedef enum { PACE_COMPOUND_NONE, PACE_COMPOUND_RECURRENT, PACE_COMPOUND_EXPERTS, PACE_COMPOUNDS } pace_compound;

enum { PACE_COMPOUND_PARTS = 4 };

typedef struct {
    pace_op op;
    double count; /* times it runs */
} pace_op_part;

/** "recurrent", "experts". */
const char *pace_compound_name(pace_compound compound);
/** The compound of a name, PACE_COMPOUND_NONE when there is none. */
pace_compound pace_compound_find(const char *name);

/** Names of the sizes, in order:
 *   recurrent  b hidden steps input layers directions        (kind: "rnn", "lstm", "gru"; input 0: no product of it)
 *   experts    tokens hidden inner experts topk tp ep        (a gate and an up projection, then one down) */
const char *const *pace_compound_size_names(pace_compound compound, unsigned *count);

/** The parts of an operation whose `size` is the compound's, in its pass and precision; completed. The number of
 * parts; 0 when a size is not above 0 that must be. */
unsigned pace_compound_parts(pace_op_part out[PACE_COMPOUND_PARTS], pace_compound compound, const pace_op *op);
