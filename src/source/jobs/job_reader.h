/*
 * Tables of jobs, streamed: CSV (plain, gzip or zstd) or SQLite, in batches that are given to a function, so that
 * memory does not grow with the table (but for the ids, see job_ids.h). All cores parse; what is read does not depend
 * on their number.
 *
 * No row is dropped silently. A row that is no job (a cell missing, no number, a number that cannot be, an id that was
 * seen before) is counted, and listed with its line and the reason; where too many are refused, the table is, too.
 */
#pragma once

#include "source/jobs/job_reading.h"

/** Reads files one after the other; `file` of the callback is the place in `paths`. Errors: PACE_E_INPUT for a column
 * that is missing, more than options->most_rejected refused rows (the first one's reason is told), no rows; PACE_E_IO;
 * the callback's. */
pace_status pace_jobs_read(pace_job_reading *out, const char *const *paths, size_t count,
                           const pace_job_reader_options *options, pace_jobs_fn take, void *context) PACE_MUST_CHECK;

/** The same of an open input of comma-separated values, for tests and other callers that have one. */
pace_status pace_jobs_read_input(pace_job_reading *out, pace_input *input, const pace_job_reader_options *options,
                                 pace_jobs_fn take, void *context) PACE_MUST_CHECK;
