/* Which what-ifs of a recording do not fit into the device's memory. */
#pragma once

#include "ask/prediction.h"
#include "report/report.h"

/** Leads with the first that does not fit, which makes the answer no; warns where that is not known. */
pace_status pace_put_trace_fit(pace_report *report, const pace_prediction *prediction,
                               pace_context *context) PACE_MUST_CHECK;
