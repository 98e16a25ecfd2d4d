/*
 * In which order one stage of a pipeline works: the turns of a training step, each one pass of one micro-batch over one
 * of the stage's chunks of layers. Pure functions of published schedules; who lowers a stage follows the list, and no
 * clock is needed, since a turn waits for what it receives.
 *
 *   1f1b          one forward, one backward, as soon as a stage can (Narayanan et al. 2021, arXiv 2104.04473);
 *                 with several chunks a stage interleaved (Megatron-LM, forward_backward_pipelining_with_interleaving)
 *   gpipe         all forward passes, then all backward ones (Huang et al. 2019, arXiv 1811.06965; ScheduleGPipe)
 *   zero-bubble   as 1f1b, but gradients of weights come later, where a stage would wait: ZB-H1 (Qi et al. 2023, arXiv
 *                 2401.10241, section 2.2; PyTorch's ScheduleInterleavedZeroBubble)
 *   zb-v          two chunks a stage, the second on the way back, so that the last stage turns round by itself and the
 *                 first holds both ends; gradients of weights fill what is left (Qi et al. 2023, section 6;
 *                 PyTorch's ScheduleZBVZeroBubble)
 *   dualpipe-v    on the same V, pairs of a forward and a backward pass (DeepSeek-AI's DualPipe, dualpipev.py;
 *                 PyTorch's ScheduleDualPipeV)
 *
 * One stage alone takes micro-batch after micro-batch, forward and backward: accumulation of gradients.
 */
#pragma once

#include "model/pipeline_turns.h"

/** Whether a pipeline can be run. Errors: PACE_E_USAGE for several chunks with all-forward-first, for micro-batches
 * that an interleaved order cannot take in rounds of as many as there are stages, and of a V for other than two chunks
 * or too few micro-batches. */
pace_status pace_pipeline_check(const pace_pipeline *pipeline) PACE_MUST_CHECK;

/** The turns of a stage (from 0) of a pipeline that passes the check. */
pace_status pace_pipeline_order(pace_turns *out, const pace_pipeline *pipeline, uint32_t stage) PACE_MUST_CHECK;
