#include "report/measure/lead_runs.h"

void pace_lead_runs(pace_report *report, const pace_runs_led *l) {
    if (l->crowded)
        pace_report_lead(report, PACE_WARN_OVERSUBSCRIBED,
                         "%zu of %zu %s had more ranks and threads than there are processors: %s.", l->crowded,
                         l->count, l->of, l->loses);
    if (l->failed)
        pace_report_lead(report, PACE_WARN_RUN_FAILED, "%zu of %zu %s could not be %s: see their %s.", l->failed,
                         l->count, l->of, l->made, l->column);
}
