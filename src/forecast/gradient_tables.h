/* Which of a model's parameters are tables of embeddings, of whose rows a step touches some. */
#pragma once

#include "model/config.h"
#include "model/model.h"
#include "schedule/gradients.h"

/** The tables of one worker's step; those whose weights a linear layer uses too are dense and left out. The caller
 * frees the vector, on failure too. */
pace_status pace_gradient_tables_of(pace_gradient_tables *out, const pace_model *model,
                                    const pace_config *config) PACE_MUST_CHECK;
