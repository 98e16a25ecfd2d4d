/* The setting of a question about jobs. */
#pragma once

#include "ask/engine_options.h"
#include "fleet/job_model.h"

/** The setting that some assumptions say; `jobs` is loaded here and the caller's to free. */
pace_status pace_job_assume(pace_job_setting *out, pace_job_catalog *jobs, pace_catalog *catalog,
                            const pace_job_assumptions *assume) PACE_MUST_CHECK;
