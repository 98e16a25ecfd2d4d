/* What an answer takes for granted. */
#pragma once

#include "machine/doubts.h"
#include "report/report.h"

/** A table of the doubts that an answer used, those that add most to its spread first; and a warning where the interval
 * of the answer reaches beyond twice its median. */
pace_status pace_put_assumptions(pace_node *parent, pace_catalog *catalog, const pace_doubts_used *used,
                                 pace_estimate answer) PACE_MUST_CHECK;
