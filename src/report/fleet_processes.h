/* A fleet that several processes read. Private to report/. */
#ifndef PACE_REPORT_FLEET_PROCESSES_H
#define PACE_REPORT_FLEET_PROCESSES_H

#include "fleet/fleet.h"
#include "source/job_reader.h"

/** The files of a process: paths [*first, *first + *count), so that processes in order have the files in order. */
void pace_fleet_own_files(size_t *first, size_t *count, size_t path_count, const pace_processes *processes);

/** Merges what all processes read into process 0's fleet and reading; to be called by all, `status` being what became
 * of this one. Process 0 returns the first failure of all; the others PACE_OK. Errors: PACE_E_INPUT when files of
 * different processes have the same job ids, as only one process could have told which row came first. */
pace_status pace_fleet_gather(pace_fleet *fleet, pace_job_reading *reading, pace_status status,
                              const pace_processes *processes) PACE_MUST_CHECK;

#endif
