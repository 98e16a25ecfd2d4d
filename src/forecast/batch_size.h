/* How many samples a step has, where nothing says it: by the leading size that operators of one kind share. */
#pragma once

#include "step/graph.h"

typedef struct {
    int64_t samples;  /* 0 = cannot be told */
    const char *from; /* "inputs of convolutions", a literal */
    size_t agree, of; /* so many of these operators have it */
} pace_batch_size;

/** Asks, in this order, convolutions, attention, embeddings, losses and linear layers of the forward pass. */
pace_status pace_batch_size_infer(pace_batch_size *out, const pace_graph *graph) PACE_MUST_CHECK;
