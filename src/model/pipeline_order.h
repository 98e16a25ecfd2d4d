/*
 * In which order one stage of a pipeline works: the turns of a training step, each one pass of one micro-batch over one of
 * the stage's chunks of layers. Pure functions of published schedules; who lowers a stage follows the list, and no clock
 * is needed, since a turn waits for what it receives.
 *
 *   1f1b          one forward, one backward, as soon as a stage can (Narayanan et al. 2021, arXiv 2104.04473, figure 4);
 *                 with several chunks a stage interleaved (Megatron-LM, forward_backward_pipelining_with_interleaving)
 *   gpipe         all forward passes, then all backward ones (Huang et al. 2019, arXiv 1811.06965; PyTorch's ScheduleGPipe)
 *   zero-bubble   as 1f1b, but gradients of weights come later, where a stage would wait: ZB-H1 (Qi et al. 2023, arXiv
 *                 2401.10241, section 2.2; PyTorch's ScheduleInterleavedZeroBubble)
 *
 * One stage alone takes micro-batch after micro-batch, forward and backward: accumulation of gradients.
 */
#pragma once

#include "base/memory.h"

typedef enum {
    PACE_SCHEDULE_1F1B,
    PACE_SCHEDULE_GPIPE,
    PACE_SCHEDULE_ZERO_BUBBLE,
    PACE_SCHEDULES
} pace_pipeline_schedule;

typedef enum {
    PACE_TURN_FORWARD,
    PACE_TURN_BACKWARD, /* gradients of inputs and of weights */
    PACE_TURN_INPUTS,   /* zero-bubble: those of inputs alone */
    PACE_TURN_WEIGHTS   /* those of weights */
} pace_turn_pass;

typedef struct {
    pace_turn_pass pass;
    uint32_t micro_batch, chunk; /* from 0; chunk c of stage s holds the layers of part c * stages + s */
} pace_turn;

typedef PACE_VEC(pace_turn) pace_turns; /* free with PACE_VEC_FREE() */

typedef struct {
    pace_pipeline_schedule schedule;
    uint32_t stages, chunks, micro_batches;
    bool forward_only; /* inference */
} pace_pipeline;

/** Whether a pipeline can be run. Errors: PACE_E_USAGE for several chunks with all-forward-first, and for micro-batches that
 * an interleaved order cannot take in rounds of as many as there are stages. */
pace_status pace_pipeline_check(const pace_pipeline *pipeline) PACE_MUST_CHECK;

/** The turns of a stage (from 0) of a pipeline that passes the check. */
pace_status pace_pipeline_order(pace_turns *out, const pace_pipeline *pipeline, uint32_t stage) PACE_MUST_CHECK;
