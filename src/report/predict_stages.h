/* The stages of a predicted pipeline, as sentences and a table. */
#pragma once

#include "ask/prediction.h"
#include "report/report.h"

/** Adds them; nothing for a step of one stage. */
pace_status pace_put_stages(pace_report *report, const pace_prediction *prediction) PACE_MUST_CHECK;
