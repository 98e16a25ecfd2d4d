/* A fleet that several processes read. Private to report/. */
#pragma once

#include "fleet/fleet.h"
#include "source/jobs/job_reader.h"

typedef PACE_VEC(uint64_t) pace_fleet_hashes; /* free with PACE_VEC_FREE */

/** To be called by all, before they talk to each other and where they end: those that failed would be waited for. All
 * return the failure of the first process that has one, with its message. */
pace_status pace_fleet_agree(pace_status status, const pace_processes *processes) PACE_MUST_CHECK;

/** What this process reads of the files: in the order of processes the rows have the order of the files. To be called
 * by all. */
pace_status pace_fleet_deal(pace_job_stretches *out, const char *const *paths, size_t count,
                            const pace_processes *processes) PACE_MUST_CHECK;

/** Those of this process's ids that an earlier one has, too; the ids are freed. Each process looks at a range of
 * hashes, so that together they need the memory that one would. To be called by all, `status` being what became of this
 * one, which is returned where any has failed: then nothing is compared. */
pace_status pace_fleet_find_repeats(pace_fleet_hashes *out, pace_job_ids *ids, pace_status status,
                                    const pace_processes *processes) PACE_MUST_CHECK;

/** Appends the refused rows of processes 1, 2, ... (their lists at `own`, NULL = none) to process 0's at `path`. To be
 * called by all. */
pace_status pace_fleet_gather_rejects(const char *own, const char *path,
                                      const pace_processes *processes) PACE_MUST_CHECK;

/** Merges what all processes read into process 0's fleet and reading; to be called by all, `status` being what became
 * of this one. Process 0 returns the first failure of all; the others PACE_OK. */
pace_status pace_fleet_gather(pace_fleet *fleet, pace_job_reading *reading, pace_status status,
                              const pace_processes *processes) PACE_MUST_CHECK;
