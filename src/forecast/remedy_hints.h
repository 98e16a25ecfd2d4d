/* What to do about a cause that names show and no replay tries: the hints of catalog/remedies.yaml. */
#pragma once

#include "forecast/remedy_catalog.h"
#include "insight/lead.h"

/** The first hint that fits what stands behind a resource: by the names behind its time, what the host waits in, what
 * another thread does meanwhile, and, with the analysis whose lead it is, by what the ranks and the steps show
 * (late_device, late_work, late_by_turns, late_stage, pipeline_bubbles, late_elsewhere, throttled). NULL = none does.
 * PACE_E_USAGE for a bad expression. */
pace_status pace_hint_find(const pace_remedy_hint **out, const pace_remedy_catalog *catalog, const pace_lead *behind,
                           const pace_analysis *analysis) PACE_MUST_CHECK;
