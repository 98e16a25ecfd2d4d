/* Tables of jobs read by this process, or by several that share them, and what the fleet answers. */
#pragma once

#include "ask/engine_options.h"
#include "fleet/fleet_figures.h"
#include "source/jobs/job_reader.h"

typedef struct {
    const char *const *paths; /* borrowed */
    size_t path_count;
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_fleet_questions questions;
    pace_fleet *workers; /* one per thread of the reader */
    size_t worker_count;
    pace_job_reading reading;
    pace_fleet_view view;
} pace_fleet_asked;

/** Reads the tables and asks the fleet. With several processes (`options->processes`) each reads a part, and the view
 * is whole in process 0 only. */
pace_status pace_fleet_ask(pace_fleet_asked **out, const char *const *paths, size_t count,
                           const pace_fleet_options *options) PACE_MUST_CHECK;
void pace_fleet_asked_free(pace_fleet_asked *asked);
