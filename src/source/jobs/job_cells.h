/* What a cell of a table of jobs says, besides numbers. Private to the reader of job tables. */
#pragma once

#include "source/jobs/job_table.h"

/** [at, end) without blanks around it. */
pace_job_text pace_job_trimmed(const char *at, const char *end);

/** Nothing, or the words that tables write for it. */
bool pace_job_is_nothing(pace_job_text text);

/** As it is usually written, else however it may be. */
bool pace_job_find_architecture(pace_job_architecture *out, pace_job_text name);
