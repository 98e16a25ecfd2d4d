/* What profiles of gradients take from a rank, measured or walked. Private to insight/. */
#pragma once

#include "insight/rank.h"
#include "schedule/gradients.h"

/** The times of a step's stages. */
void pace_gradient_stages(pace_gradient_profile *profile, const pace_rank *rank, const pace_mark *mark);

/** Backward's first and last instant in a step, on the device. */
void pace_gradient_backward(int64_t *from_ns, int64_t *to_ns, const pace_rank *rank, const pace_mark *mark);
