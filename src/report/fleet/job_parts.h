/* What the reports of one job, of rows of jobs and of a fleet share. Private to report/. */
#pragma once

#include "fleet/job_fit.h"
#include "report/report.h"

/** What was assumed: machine, overlap, contention, and a table of the figures with source and confidence. */
void pace_put_job_setting(pace_node *parent, const pace_job_setting *setting);
