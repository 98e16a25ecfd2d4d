/* The stages of a drawn pipeline as lanes. */
#pragma once

#include "insight/analysis.h"
#include "report/report.h"

/** Adds them: the last step of each rank, by what it did. What is shown is copied. */
pace_status pace_put_stage_lanes(pace_node *root, const char *title, const pace_analysis *drawn) PACE_MUST_CHECK;

/** Says by how much all turns were drawn longer or shorter, so that the step takes as long as it is answered to; from 1
 * % on. */
void pace_note_stretch(pace_node *root, double stretch);
