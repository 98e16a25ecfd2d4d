/* How many samples a rank computes at a time, and how often a step, where nothing says it: by the leading size that
 * operators of one kind share. */
#pragma once

#include "step/graph.h"

typedef struct {
    int64_t samples;  /* of a micro-batch; 0 = cannot be told */
    size_t passes;    /* micro-batches of a step; 1 = one, or not known */
    const char *from; /* "inputs of convolutions", a literal */
    size_t agree, of; /* so many of these operators have it */
} pace_batch_size;

/** Asks, in this order, convolutions, attention, embeddings, losses and linear layers of the forward pass. A graph of
 * `steps` steps (0 = not known) that goes forward several times in each, with as many such operators each time, has
 * micro-batches: their gradients are summed. */
pace_status pace_batch_size_infer(pace_batch_size *out, const pace_graph *graph, size_t steps) PACE_MUST_CHECK;
