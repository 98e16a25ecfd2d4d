/* What of a recording became a model: its layers, how they were run, and what was left out. */
#pragma once

#include "model/model.h"
#include "report/report.h"

/** Says it; nothing of a model that was not found in a recording. */
void pace_say_found(pace_report *report, const pace_model *model, const pace_config *config);
