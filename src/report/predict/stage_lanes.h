/* The stages of a drawn pipeline as lanes. */
#pragma once

#include "insight/analysis.h"
#include "report/report.h"

/** Adds them: the last step of each rank, by what it did. What is shown is copied. */
pace_status pace_put_stage_lanes(pace_node *root, const char *title, const pace_analysis *drawn) PACE_MUST_CHECK;
