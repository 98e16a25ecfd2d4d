/*
 * ZeRO 3: what of gathers and scatters nothing hides, block by block on two lanes. A block is gathered while the one before it
 * computes, the first of a pass behind what was computed before; its gradients are scattered when its backward pass has ended. One
 * lane computes, the other exchanges, in the order in which src/model/lower_shards.c issues both.
 */
#pragma once

#include <stddef.h>

enum { PACE_GATHERED_PASSES = 3 };

typedef struct {
    double work_s
        [PACE_GATHERED_PASSES]; /* forward; backward with what runs again before it; gradients of weights where they are put off */
    double gather_s, reduce_s;
} pace_gathered_block;

/* Layers of a stage between whose passes others come: blocks in the order of the forward pass. */
typedef struct {
    const pace_gathered_block *const *blocks;
    size_t count;
} pace_gathered_chunk;

/** What each pass of one micro-batch takes longer than its work, where another micro-batch comes before. `passes`: 1 forward alone,
 * 2 with backward, 3 with gradients of weights in a pass of their own, which gathers nothing and scatters. */
void pace_gathers_exposed(double out_s[PACE_GATHERED_PASSES], const pace_gathered_chunk *chunks, size_t count,
                          int passes);
