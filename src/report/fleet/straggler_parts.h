/* The parts of a report about stragglers. Private to report/. */
#pragma once

#include "ask/fleet/stragglers.h"
#include "report/report.h"

void pace_put_straggler_charts(pace_node *root, const pace_straggler_job *jobs, size_t count);
