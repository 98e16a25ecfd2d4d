/* The setting of a question about jobs. */
#ifndef PACE_ASK_JOB_ASSUME_H
#define PACE_ASK_JOB_ASSUME_H

#include "ask/engine_options.h"
#include "fleet/job_model.h"

/** The setting that some assumptions say; `jobs` is loaded here and the caller's to free. */
pace_status pace_job_assume(pace_job_setting *out, pace_job_catalog *jobs, pace_catalog *catalog,
                            const pace_job_assumptions *assume) PACE_MUST_CHECK;

#endif
