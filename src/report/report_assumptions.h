/* What an answer takes for granted. */
#pragma once

#include "machine/doubts.h"
#include "report/report.h"

/** A table of the doubts that an answer used, those that add most to its spread first. */
pace_status pace_put_assumptions(pace_node *parent, pace_catalog *catalog,
                                 const pace_doubts_used *used) PACE_MUST_CHECK;
