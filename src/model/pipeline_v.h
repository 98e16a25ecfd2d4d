/* Orders of pipelines whose stages hold two chunks as the sides of a V: chunk 0 on the way down, chunk 1 on the way
 * back. */
#pragma once

#include "model/pipeline_turns.h"

/** Errors: PACE_E_USAGE for inference, for other than two chunks, and for fewer micro-batches than dualpipe-v is
 * defined for. */
pace_status pace_pipeline_v_check(const pace_pipeline *pipeline) PACE_MUST_CHECK;

/** Appends the turns of a stage (from 0) of a pipeline that passes the check. */
pace_status pace_pipeline_v_fill(pace_turns *out, const pace_pipeline *pipeline, uint32_t stage) PACE_MUST_CHECK;
