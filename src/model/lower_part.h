/*
 * A part of a model, lowered alone: what one pass of one micro-batch over some layers issues on one rank. A step is
 * many times the same few parts, so a closed form needs no more than these.
 */
#pragma once

#include "model/model.h"
#include "step/graph.h"

typedef enum {
    PACE_PART_FORWARD,
    PACE_PART_RECOMPUTE,
    PACE_PART_BACKWARD,
    PACE_PART_PASSES,
    PACE_PART_INPUTS = PACE_PART_PASSES, /* backward in two turns (zero-bubble): gradients of inputs, */
    PACE_PART_WEIGHTS                    /* and of weights */
} pace_part_pass;

/** Lowers layers first to last. Recompute: what runs again before backward, under the configuration's recompute.
 * Gradients of parameters are formed and not exchanged. Free with pace_graph_free(). */
pace_status pace_model_lower_part(pace_graph *out, const pace_model *model, const pace_config *config, uint32_t first,
                                  uint32_t last, pace_part_pass pass) PACE_MUST_CHECK;
