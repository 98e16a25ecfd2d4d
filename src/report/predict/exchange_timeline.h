/* The timeline of a simulated exchange. */
#pragma once

#include "report/report.h"
#include "schedule/flows.h"

/** Draws what ran when; takes the log over, whatever comes of it. Ranks are named as pace_simulation_run() numbers
 * them. */
pace_status pace_put_exchange_timeline(pace_node *root, pace_flow_log *log, uint32_t ranks_of_job,
                                       uint32_t numbered_of_job) PACE_MUST_CHECK;
