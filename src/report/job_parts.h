/* What the reports of one job, of rows of jobs and of a fleet share. Private to report/. */
#ifndef PACE_REPORT_JOB_PARTS_H
#define PACE_REPORT_JOB_PARTS_H

#include "fleet/job_fit.h"
#include "fleet/rate_text.h"
#include "report/report.h"

/** The setting that some assumptions say; `catalog` is loaded here and the caller's to free. */
pace_status pace_job_assume(pace_job_setting *out, pace_job_catalog *catalog,
                            const pace_job_assumptions *assume) PACE_MUST_CHECK;

/** What was assumed: machine, overlap, contention, and a table of the figures with source and confidence. */
void pace_put_job_setting(pace_node *parent, const pace_job_setting *setting);

#endif
