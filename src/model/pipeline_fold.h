/*
 * Pipelines of many micro-batches, folded: between filling and draining every stage repeats one block of turns, so that
 * a pipeline of fewer micro-batches says what the whole one does, if its steady part is found to be steady
 * (forecast/micro_batch_fold.h).
 */
#pragma once

#include "model/pipeline_order.h"

typedef struct {
    pace_pipeline less; /* the same pipeline of fewer micro-batches */
    uint32_t times;     /* blocks that are left out of it; 0 = it is whole */
    uint32_t round;     /* micro-batches of a block */
} pace_pipeline_fold;

/* Of one stage of the pipeline of fewer micro-batches, by turn. */
typedef struct {
    uint32_t first, count;               /* the block that would be repeated */
    uint32_t steady_first, steady_count; /* all turns that are such blocks */
} pace_turn_block;

/* The first try has few micro-batches, the next adds what fills and drains the queues of devices, the others have more
 * of each: stages that catch up by a little a round settle late. */
enum { PACE_FOLD_TRIES = 4 };

/** Micro-batches of a block. */
uint32_t pace_pipeline_round(const pace_pipeline *pipeline);

/** How a pipeline that passes pace_pipeline_check() is folded in a try, from 0. `queued`: blocks whose launches a
 * device's queue holds. times = 0: the pipeline has too few micro-batches, or the try is the one before again. */
pace_pipeline_fold pace_pipeline_fold_of(const pace_pipeline *pipeline, unsigned attempt, uint32_t queued);

/** The block of a stage. *found = false where the whole order is not the folded one with blocks put in. */
pace_status pace_pipeline_fold_block(pace_turn_block *out, bool *found, const pace_pipeline *pipeline,
                                     const pace_pipeline_fold *fold, uint32_t stage) PACE_MUST_CHECK;
