/* What a step copies between the memories of host and device where the host holds states or activations. */
#pragma once

#include "plan/step_slots.h"

/** Of an optimizer on the host: gradients are copied there, so many parameters updated and copied back. */
pace_status pace_offload_update_s(double *out_s, const pace_config *config, double parameters,
                                  const pace_step_place *place) PACE_MUST_CHECK;

/** Activations of one micro-batch of each kind of layer, to the host and back. */
pace_status pace_offload_copies_s(double out_s[2][PACE_SLOT_PARTS], const pace_step_slots *slots,
                                  const pace_step_place *place) PACE_MUST_CHECK;
