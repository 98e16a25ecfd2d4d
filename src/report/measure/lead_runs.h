/* What a report of many trainings leads with: those that had too few processors, and those that could not be made. */
#pragma once

#include "report/report.h"

typedef struct {
    const char *of; /* "runs" */
    size_t count;   /* of all */
    size_t crowded;
    const char *loses; /* "they get no efficiency" */
    size_t failed;
    const char *made, *column; /* "made", "status": where the reason stands */
} pace_runs_led;

void pace_lead_runs(pace_report *report, const pace_runs_led *led);
