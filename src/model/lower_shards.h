/*
 * What ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054) and FSDP (Zhao et al. 2023, arXiv 2304.11277) change: replicas
 * hold parts of states (1), gradients (2) and parameters (3), so that gradients are reduced and scattered and
 * parameters are gathered, block by block, each while the block before it computes.
 */
#pragma once

#include "model/emit.h"

/** Parameters of the layer on one rank that are the routed experts'. */
double pace_lower_experts(const pace_lowering *to, const pace_layer *layer);

/** Of a number of parameters those that a rank keeps where ZeRO divides them from this stage on. */
double pace_lower_share(const pace_lowering *to, double elements, bool expert, int zero_stage);

/** FSDP: copies so many parameters out of the flat buffer that they were gathered into. */
void pace_lower_unpack(pace_lowering *to, double tensors, double elements);

/** Brings the parameters of the block that begins (backward: ends) with this layer, and of the next one beside it; the
 * next operation waits for its own. Nothing where no block begins, or the rank has them. */
void pace_lower_gather(pace_lowering *to, uint32_t layer);

/** Backward has come to the end of a block: sends what ZeRO 3 scatters of its gradients. */
void pace_lower_scatter(pace_lowering *to, uint32_t layer);
