/* An answer: a report, and its values and tables laid out to be read. */
#pragma once

#include "report/report.h"

/** Takes the report, whatever comes of it. */
pace_status pace_answer_of_report(pace_answer **out, pace_report *report, bool holds) PACE_MUST_CHECK;
