#include "ask/rows/row_kinds.h"

extern const pace_row_kind pace_kernel_kind, pace_exchange_kind, pace_step_kind, pace_scaling_kind, pace_job_kind,
    pace_overhead_kind, pace_profiler_kind;

/* One row per kind. */
static const pace_row_kind *const kinds[] = {&pace_kernel_kind,  &pace_exchange_kind, &pace_step_kind,
                                             &pace_scaling_kind, &pace_job_kind,      &pace_overhead_kind,
                                             &pace_profiler_kind};

const pace_row_kinds pace_all_row_kinds = {kinds, PACE_COUNT(kinds)};
