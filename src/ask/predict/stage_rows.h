/* The stages of a predicted pipeline side by side: what each does, waits and holds. */
#pragma once

#include "insight/analysis.h"
#include "plan/step_engine.h"

typedef struct {
    int64_t stage, rank; /* its first rank */
    int64_t stands_for;  /* ranks that do the same */
    int64_t layers;      /* repeated ones */
    int64_t compute_ns, memory_ns, exposed_ns;
    int64_t waits_ns; /* for other stages */
    int64_t idle_ns;  /* for anything else */
    double held_bytes;
} pace_stage_row;

typedef PACE_VEC(pace_stage_row) pace_stage_rows; /* free with PACE_VEC_FREE() */

/** One row a stage, of the last step of a walk whose ranks are the stages; none where there is one stage. */
pace_status pace_stage_rows_of(pace_stage_rows *out, const pace_analysis *walked, const pace_step_case *asked,
                               const pace_step_plan *plan) PACE_MUST_CHECK;

/** Share of a step that alike stages would wait while the pipeline fills and drains, were messages free (Narayanan et
 * al. 2021, section 2.2; zero-bubble: Qi et al. 2023, table 2, for passes that take equally long). */
double pace_pipeline_bubble_share(const pace_config *config);
