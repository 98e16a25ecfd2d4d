/* The stages of a predicted pipeline, as sentences and a table. */
#pragma once

#include "ask/step_ask.h"
#include "plan/memory_over_time.h"
#include "insight/analysis.h"
#include "report/report.h"

/** Adds them, of the walk whose ranks are the stages; nothing for a step of one stage. */
pace_status pace_put_stages(pace_report *report, const pace_analysis *walked,
                            const pace_step_asked *step) PACE_MUST_CHECK;

/** What the stages hold as the step goes on: a curve each, and the instants for JSON. Nothing where there is one stage. */
void pace_put_stage_memory(pace_report *report, const pace_memory_series *memory, double device_bytes);
